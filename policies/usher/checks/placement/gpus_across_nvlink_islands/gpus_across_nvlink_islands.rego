# METADATA
# title: A pod fills whole NVLink islands
# description: |
#   On some machines NVLink connects the GPUs in islands, of four for example. A pod that asks for 6 of them gets one
#   island and half of another: every step waits for the slow way between the two, and the two GPUs that are left over
#   are of little use to anybody. Nothing but the label tells how large the islands are; nobody sets it by default, and
#   a pod cannot choose its island. So this is found only for pods that select nodes by the label.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-p2p-level
#     description: NCCL on the ways between GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH315
#   about: accelerator pods
#   severity: low
#   why: All GPUs of the pod wait for the slow way between two islands.
#   closes: [S8]
#   parameters:
#     label:
#       default: gpu.nvidia.com/nvlink-gpus-per-island
#       description: Label of nodes that holds the number of GPUs in one NVLink island.
#   remediation: |
#     Ask for as many GPUs as fit into one island, or for a multiple of that.
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
		"message": $"{workload.pod_set_name(pod_set)} asks for {asked} GPUs on nodes with NVLink islands of {concat(" or ", [format_int(size, 10) | some size in sizes])}, and so for a part of one",
		"remedy": $"ask for {max(sizes)} GPUs or fewer, or for a multiple of that",
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
