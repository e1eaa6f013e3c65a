# METADATA
# title: A pod uses whole NVLink islands
# description: |
#   On some machines NVLink connects the GPUs in islands, for example of four. A pod that asks for 6 of these GPUs gets
#   one island and half of another. Every step then waits for the slow link between the two islands, and the two
#   remaining GPUs are of little use to other pods. Only a node label says how large the islands are. No component sets
#   this label by default, and a pod cannot choose its island. The check therefore looks only at pods that select nodes
#   by this label.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-p2p-level
#     description: NCCL on the links between GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH315
#   about: accelerator pods
#   severity: low
#   why: All GPUs of the pod wait for the slow link between two islands.
#   closes: [S8]
#   parameters:
#     label:
#       default: gpu.nvidia.com/nvlink-gpus-per-island
#       description: Node label that holds the number of GPUs in one NVLink island.
#   remediation: Ask for at most the GPUs of one island, or for a multiple of that number.
package usher.checks.placement.gpus_across_nvlink_islands

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	sizes := pod_set.numbers[parameters.placement.gpus_across_nvlink_islands.label]
	asked := pod_set.accelerators["nvidia.com/gpu"]
	not _fits(asked, sizes)

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} asks for {asked} GPUs, which splits an NVLink island: the selected nodes have islands of {concat(" or ", [format_int(size, 10) | some size in sizes])}",
		"remedy": $"ask for at most {max(sizes)} GPUs, or for a multiple of {max(sizes)}",
	}
}

_fits(asked, sizes) if {
	some size in sizes
	asked < size
}

# Nodes without islands may say 0.
_fits(asked, sizes) if {
	some size in sizes
	asked % max([size, 1]) == 0
}
