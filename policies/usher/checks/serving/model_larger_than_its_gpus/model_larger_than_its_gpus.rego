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
