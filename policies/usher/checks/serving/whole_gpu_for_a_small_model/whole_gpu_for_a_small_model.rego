# METADATA
# title: Small models get a part of a GPU
# description: |
#   A server that may use but a few gigabytes of memory loads a model of that size or less, and leaves most of a data
#   center GPU idle for as long as it runs. A MIG slice, or a share where isolation does not matter, serves it as well,
#   and the rest of the GPU serves others. Left alone are servers that ask for several GPUs, those that select boards
#   without MIG or nodes that share already, and what sets no limit of memory.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
#     description: NVIDIA on what a MIG slice gives
# schemas:
#   - input: schema.input
# custom:
#   code: USH1007
#   about: accelerator pods
#   severity: low
#   why: One small model keeps a whole GPU from everybody else.
#   closes: [S16]
#   parameters:
#     memoryGi:
#       default: 8
#       description: Limit of memory, in GiB, up to which a server counts as one of a small model.
#   remediation: |
#     Ask for a MIG slice of the size that the model needs (nvidia.com/mig-1g.10gb, for example), or for a share of a GPU
#     where the cluster offers them (nvidia.com/gpu.shared).
package usher.checks.serving.whole_gpu_for_a_small_model

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

_boards := ["nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "k8s.amazonaws.com/accelerator"]

_with_mig := ["a30", "a100", "h100", "h200", "b200", "b300", "pro-6000"]

_of_parts := [
	"nvidia.com/gpu.sharing-strategy",
	"nvidia.com/mig.config",
	"cloud.google.com/gke-gpu-partition-size",
	"cloud.google.com/gke-gpu-sharing-strategy",
]

deny contains finding if {
	some entry in serving.model_servers
	entry.container.accelerators["nvidia.com/gpu"].limits.value == 1
	memory := ceil(entry.container.resources.memory.limits.value / 1073741824)
	memory <= parameters.serving.whole_gpu_for_a_small_model.memoryGi
	not _gets_a_part(entry.podSet.nodeSelector)
	not _cannot_be_parted(entry.podSet.nodeSelector)

	finding := {
		"path": workload.resource_path(entry.container, "limits", "nvidia.com/gpu"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} asks for a whole GPU to serve what fits into {memory} GiB of memory",
		"remedy": "ask for a MIG slice or a share of a GPU, if the model needs no more",
	}
}

_gets_a_part(selector) if {
	some key in _of_parts
	selector[key]
}

_gets_a_part(selector) if endswith(selector["nvidia.com/gpu.product"], "-SHARED")

_gets_a_part(selector) if contains(selector["nvidia.com/gpu.product"], "-MIG-")

_cannot_be_parted(selector) if {
	some key in _boards
	board := lower(selector[key])
	every part in _with_mig {
		not contains(board, part)
	}
}
