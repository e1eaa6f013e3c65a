# METADATA
# title: Small models use a part of a GPU
# description: |
#   A server with a memory limit of only a few gigabytes loads a model of at most that size. Most of a data center GPU
#   then stays idle as long as the server runs. A MIG slice, or a share where isolation does not matter, is enough for
#   it, and others can use the rest of the GPU.
#
#   The name of a model may say its size too (0.5B). If usher knows the board, it also reports a server whose GPUs have
#   many times the memory of these weights.
#
#   The check ignores other servers that ask for several GPUs or have no memory limit. It also ignores servers that select
#   boards without MIG, or nodes whose GPUs are already shared.
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
#   why: One small model blocks a whole GPU.
#   closes: [S16]
#   parameters:
#     memoryGi:
#       default: 8
#       description: Memory limit, in GiB, up to which the model of a server counts as small.
#     times:
#       default: 20
#       description: How many times the memory of the GPUs must be that of the weights for a model to count as small.
#   remediation: |
#     Ask for a MIG slice of the size that the model needs (for example nvidia.com/mig-1g.10gb). If the cluster offers
#     shares of a GPU, a share (nvidia.com/gpu.shared) is enough too.
package usher.checks.serving.whole_gpu_for_a_small_model

import data.usher.lib.amounts
import data.usher.lib.parallelism
import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

_boards := ["nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "k8s.amazonaws.com/accelerator"]

_with_mig := ["a30", "a100", "h100", "h200", "b200", "b300", "pro-6000"]

_labels_of_divided_gpus := [
	"nvidia.com/gpu.sharing-strategy",
	"nvidia.com/mig.config",
	"cloud.google.com/gke-gpu-partition-size",
	"cloud.google.com/gke-gpu-sharing-strategy",
]

deny contains finding if {
	some entry in serving.model_servers
	entry.container.accelerators["nvidia.com/gpu"].limits.value == 1
	memory := _little_memory(entry.container)
	not _selects_divided_gpus(entry.podSet.nodeSelector)
	not _selects_board_without_mig(entry.podSet.nodeSelector)

	finding := {
		"path": workload.resource_path(entry.container, "limits", "nvidia.com/gpu"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} asks for a whole GPU, but with its memory limit of {memory} GiB it loads only a small model",
		"remedy": "if a part of a GPU is enough for the model, ask for a MIG slice or a share; for a large model raise the memory limit",
	}
}

deny contains finding if {
	some entry in parallelism.servers
	size := entry.parallelism.model
	entry.has == "has"
	not size.experts
	not _little_memory(entry.container)
	memory := entry.podSet.gpuMemory.least
	size.gigabytes * parameters.serving.whole_gpu_for_a_small_model.times <= entry.gpus * memory
	not _selects_divided_gpus(entry.podSet.nodeSelector)
	not _selects_board_without_mig(entry.podSet.nodeSelector)

	finding := {
		"path": workload.resource_path(entry.container, "limits", "nvidia.com/gpu"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} asks for {amounts.number_of(entry.gpus, "GPU", "GPUs")} of {memory} GB for a model of {size.name}, whose weights need about {size.gigabytes} GB",
		"remedy": "ask for a MIG slice, a share, or fewer or smaller GPUs, if the server does not need them for many requests at once",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

_little_memory(container) := memory if {
	memory := ceil(container.resources.memory.limits.value / 1073741824)
	memory <= parameters.serving.whole_gpu_for_a_small_model.memoryGi
}

_selects_divided_gpus(selector) if {
	some key in _labels_of_divided_gpus
	selector[key]
}

_selects_divided_gpus(selector) if endswith(selector["nvidia.com/gpu.product"], "-SHARED")

_selects_divided_gpus(selector) if contains(selector["nvidia.com/gpu.product"], "-MIG-")

_selects_board_without_mig(selector) if {
	some key in _boards
	board := lower(selector[key])
	every part in _with_mig {
		not contains(board, part)
	}
}
