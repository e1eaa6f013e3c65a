# METADATA
# title: A model fits the memory of its GPUs
# description: |
#   A server loads all weights of its model into the memory of its GPUs. A model of 70B weights with 16 bits each has 140
#   GB, more than one GPU of 80 GB. The server then ends with an error, out of memory, again and again.
#
#   The check reads the size and the bits in the name of the model (70B, AWQ, FP8), the quantisation of the command, and
#   the board that the pods select or that their pools have. It counts the GPUs that the parallel sizes use. It skips names
#   without a size, servers that span several pods, and servers that leave weights in the memory of the node. vLLM also ends
#   if its cache has no room for one request of the longest context; of common models usher knows the cache of a token.
#   A MIG device and a share of HAMi or Volcano have the memory of their name or amount.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/configuration/conserving_memory/
#     description: vLLM on memory
# schemas:
#   - input: schema.input
# custom:
#   code: USH1047
#   about: accelerator pods
#   severity: medium
#   why: The server ends while it loads its model, again and again.
#   remediation: |
#     Ask for more GPUs and raise the tensor parallel size, select boards with more memory, or serve a quantised model.
package usher.checks.serving.model_larger_than_its_gpus

import data.usher.lib.amounts
import data.usher.lib.parallelism
import data.usher.lib.workload

deny contains finding if {
	some entry in _servers
	size := entry.parallelism.model
	memory := entry.podSet.gpuMemory.most
	replica := _gpus_of_a_replica(entry)
	_is_too_large(size.gigabytes, replica, memory)

	finding := {
		"path": entry.container.path,
		"message": $"the weights of the model of {workload.container_name(entry.podSet, entry.container)} ({size.name} with {size.bits} bits) need about {size.gigabytes} GB, but {_it_uses(replica)} {memory} GB each, so it never loads",
		"remedy": "use more GPUs with a larger tensor parallel size, boards with more memory, or a quantised model",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

deny contains finding if {
	some entry in _servers
	size := entry.parallelism.model
	memory := entry.podSet.gpuMemory.most
	replica := _gpus_of_a_replica(entry)
	not _is_too_large(size.gigabytes, replica, memory)
	_is_too_large(size.gigabytes + size.cache, replica, memory)

	finding := {
		"path": entry.container.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} serves requests of {size.context} tokens, whose cache needs about {size.cache} GB beside {size.gigabytes} GB of weights, but {_it_uses(replica)} {memory} GB each, so vLLM does not start",
		"remedy": "set --max-model-len to fewer tokens, or use more or larger GPUs",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

# A program sees one MIG device, and its share of the memory of a GPU, whatever the board has.
deny contains finding if {
	some entry in _on_parts
	size := entry.container.parallelism.model
	needed := size.gigabytes + object.get(size, "cache", 0)
	needed * 100 > entry.part.gigabytes * 108

	finding := {
		"path": entry.container.path,
		"message": $"the weights{_and_cache(size)} of the model of {workload.container_name(entry.podSet, entry.container)} ({size.name} with {size.bits} bits) need about {needed} GB, but it gets {entry.part.what}, so it never loads",
		"remedy": "ask for a larger part of a GPU or a whole one, or serve a smaller or quantised model",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

_and_cache(size) := $" and the cache of {size.context} tokens" if size.cache > 0

default _and_cache(_) := ""

_on_parts := [{"podSet": pod_set, "container": container, "part": part} |
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not pod_set.placed
	some container in pod_set.containers
	container.parallelism.gpus == 1
	part := _part(pod_set, container)
]

_part(_, container) := {"gigabytes": gigabytes, "what": $"a MIG device of {gigabytes} GB"} if {
	names := object.keys(container.accelerators)
	count(names) == 1
	some name in names
	gigabytes := _of_profile(trim_prefix(name, "nvidia.com/mig-"))
	startswith(name, "nvidia.com/mig-")
}

_part(pod_set, container) := {"gigabytes": gigabytes, "what": $"a MIG device of {gigabytes} GB"} if {
	"nvidia.com/gpu" in object.keys(container.accelerators)
	gigabytes := _of_profile(pod_set.nodeSelector["cloud.google.com/gke-gpu-partition-size"])
}

_part(_, container) := {"gigabytes": gigabytes, "what": $"{mebibytes} MiB of a GPU"} if {
	some name in ["nvidia.com/gpumem", "volcano.sh/vgpu-memory"]
	mebibytes := container.accelerators[name].limits.value

	# Smaller numbers are in the larger unit of a site.
	mebibytes >= 1000
	gigabytes := (mebibytes * 1048576) / 1000000000
}

_of_profile(profile) := to_number(found[0][1]) if {
	found := regex.find_all_string_submatch_n(`^[1-7]g\.(\d+)gb`, profile, 1)
}

_servers := [entry |
	some entry in parallelism.servers
	not entry.podSet.placed
	entry.has == "has"
	entry.parallelism.nodes == 1
	not entry.parallelism.ownPod
]

_gpus_of_a_replica(entry) := min([entry.parallelism.gpus, entry.gpus]) / entry.parallelism.data

# Boards of 80 GB have somewhat more than 80 billion bytes.
_is_too_large(gigabytes, replica, memory) if gigabytes * 100 > (replica * memory) * 108

_it_uses(1) := "it uses 1 GPU of"

_it_uses(number) := $"it uses {amounts.number_of(number, "GPU", "GPUs")} of" if number != 1
