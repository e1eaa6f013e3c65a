# METADATA
# title: A TrainJob repeats the devices of its runtime
# description: |
#   A TrainJob may give its nodes other resources than its runtime with `trainer.resourcesPerNode`. The Trainer up to
#   version 2.2 puts this block in the place of the runtime's resources, so that devices which the block does not repeat are
#   lost: an EFA card, an InfiniBand device, huge pages. Version 2.3 merges requests and limits. All versions lose the
#   device claims of the container. The check does not know the version of the Trainer, so it says both.
# scope: package
# related_resources:
#   - ref: https://github.com/kubeflow/trainer/blob/v2.2.0/pkg/runtime/framework/plugins/jobset/builder.go
#     description: How version 2.2 of the Trainer uses the block
#   - ref: https://github.com/kubeflow/trainer/pull/3602
#     description: The change of version 2.3
# schemas:
#   - input: schema.input
# custom:
#   code: USH116
#   about: accelerator pods
#   severity: medium
#   why: Training runs over a slow network, or without a device that its image needs, and nothing says so.
#   closes: [S29]
#   remediation: Repeat in `resourcesPerNode` every device that the runtime gives the container `node`.
package usher.checks.resources.resources_of_the_runtime_dropped

import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	devices := [name | some name in container.notRepeated; not startswith(name, "claim ")]
	count(devices) > 0

	finding := {
		"path": _path,
		"message": $"resourcesPerNode does not repeat {concat(", ", devices)} of the runtime: up to version 2.2 the Trainer drops what the block does not name, later versions merge",
		"remedy": $"repeat {concat(", ", devices)} in resourcesPerNode",
	}
}

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	some name in container.notRepeated
	startswith(name, "claim ")

	finding := {
		"path": _path,
		"message": $"the Trainer drops {name} of the runtime, because resourcesPerNode takes the place of the container's resources",
		"remedy": "remove resourcesPerNode, or use a runtime that has the amounts of this job",
	}
}

_path := "/spec/trainer/resourcesPerNode"
