# METADATA
# title: Cliques that want NVLink between nodes ask for GPUs by name
# description: |
#   With the annotation grove.io/mnnvl-group Grove makes a ComputeDomain and gives its cliques a channel, so that their
#   GPUs reach each other by NVLink across nodes. It looks only at nvidia.com/gpu: it leaves out a clique that claims
#   its GPUs by DRA, and reports nothing. With the value `none` a clique opts out.
# scope: package
# related_resources:
#   - ref: https://github.com/ai-dynamo/grove/tree/main/operator/internal/mnnvl
#     description: Which cliques Grove gives a channel
# schemas:
#   - input: schema.input
# custom:
#   code: USH1053
#   about: accelerator pods
#   severity: medium
#   why: The pods talk over the network, many times slower than by NVLink.
#   closes: [S8]
#   remediation: Ask for nvidia.com/gpu in the clique, or claim the channel of a ComputeDomain in its pod spec.
package usher.checks.serving.nvlink_group_left_out

import data.usher.lib.grove
import data.usher.lib.text
import data.usher.lib.workload

_key := "grove.io/mnnvl-group"

deny contains finding if {
	grove.clique_set
	some pod_set in workload.accelerator_pod_sets
	group := _group(pod_set)
	not group in ["", "none"]
	not _named(pod_set)

	finding := {
		"path": pod_set.path,
		"message": $"Grove gives {workload.pod_set_name(pod_set)} no channel of NVLink group {text.excerpt(group)}, because it claims its GPUs and does not ask for nvidia.com/gpu",
		"remedy": "ask for nvidia.com/gpu, or claim the channel of a ComputeDomain",
	}
}

_named(pod_set) if {
	some container in pod_set.containers
	container.accelerators["nvidia.com/gpu"]
}

# The innermost annotation counts: of the clique, of its scaling group, of the set.
_group(pod_set) := pod_set.annotations[_key]

_group(pod_set) := object.get(_of_scaling_group(pod_set), _key, object.get(input.workload.annotations, _key, "")) if {
	not pod_set.annotations[_key]
}

_of_scaling_group(pod_set) := group.annotations if {
	some group in grove.clique_set.spec.template.podCliqueScalingGroups
	pod_set.name in group.cliqueNames
} else := {}
