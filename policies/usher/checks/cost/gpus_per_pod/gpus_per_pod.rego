# METADATA
# title: A pod stays below its ceiling of GPUs
# description: |
#   All devices of a pod come from one node, and hardly any node has more than 16. A pod that asks for more waits for
#   ever, and with it the gang that it belongs to; usually a total was written where the number of one pod belongs. A
#   site may lower the ceiling to what its nodes have. Whole accelerators are counted, by resources and device claims
#   alike, at the most that one pod can ask for; slices and shares are not. What a controller made is left alone: its
#   owner was judged.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on asking for GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1302
#   about: accelerator pods
#   severity: medium
#   why: No node can give a pod that many, so it waits for ever, and its job with it.
#   closes: [S47]
#   parameters:
#     maximum:
#       default: 16
#       description: Whole accelerators that one pod may ask for.
#   remediation: |
#     Spread the accelerators over several pods, or have the ceiling of the namespace raised in usher.yaml (parameters,
#     gpus-per-pod, maximum).
package usher.checks.cost.gpus_per_pod

import data.usher.lib.amounts
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	asked := amounts.whole_devices(pod_set)
	asked > _maximum

	finding := {
		"path": pod_set.path,
		"message": $"{_name(pod_set)} asks for {amounts.number_of(asked, "accelerator", "accelerators")}, more than the {_maximum} that one pod may have",
		"remedy": $"stay at {_maximum} or below in each pod, and ask for more pods",
	}
}

_maximum := parameters.cost.gpus_per_pod.maximum

_name(pod_set) := "the pod" if pod_set.name == ""

_name(pod_set) := $"each pod of {pod_set.name}" if pod_set.name != ""
