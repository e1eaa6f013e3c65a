# METADATA
# title: A model fits the volume that it is downloaded to
# description: |
#   A server that gets its model from a hub writes all weights into its cache: the directory of --download-dir,
#   HF_HUB_CACHE or HF_HOME, or the one of its image. The kubelet evicts a pod whose files grow above
#   the sizeLimit of an emptyDir or the limit of ephemeral-storage, and a full PersistentVolumeClaim ends the download.
#   Each new pod downloads the model again, up to the same limit.
#
#   The check compares the size and the bits in the name of the model (70B, AWQ, FP8) with the volume that is mounted at
#   the cache, or without one with the limit of the container. It leaves a tenth for names that are rounded up. It knows
#   the sizes of claims of the same files, and skips servers that are offline, pods that run already and models by path.
# scope: package
# related_resources:
#   - ref: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
#     description: Hugging Face on HF_HOME and HF_HUB_CACHE
#   - ref: https://kubernetes.io/docs/concepts/storage/ephemeral-storage/
#     description: Kubernetes on the limits of local files
#   - ref: https://github.com/kserve/kserve/issues/3792
#     description: Pods that were evicted while they downloaded a model
# schemas:
#   - input: schema.input
# custom:
#   code: USH1580
#   about: accelerator pods
#   severity: medium
#   why: The server never finishes its download, and its GPUs do nothing.
#   remediation: |
#     Make the volume or the limit larger than the weights, with room for the files beside them, or keep the model on a
#     disk that the pods share.
package usher.checks.serving.model_larger_than_its_cache

import data.usher.lib.amounts
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some entry in _servers
	some index in _volumes(entry)
	some limit in _limits(entry, index)
	_is_too_small(entry, limit.bytes)

	finding := {
		"path": limit.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} downloads about {entry.size.gigabytes} GB of weights ({entry.size.name} with {entry.size.bits} bits) to {entry.cache}, but {limit.what} of {amounts.bytes(limit.bytes)}",
		"remedy": $"make that larger than {entry.size.gigabytes} GB",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

deny contains finding if {
	some entry in _servers
	count(_volumes(entry)) == 0
	every mount in object.get(entry.container, "volumeMounts", []) {
		trim_right(mount.mountPath, "/") in ["/dev/shm", "/tmp"]
	}
	limit := _own_limit(entry)
	_is_too_small(entry, limit)

	finding := {
		"path": $"{entry.container.path}/resources/limits/ephemeral-storage",
		"message": $"{workload.container_name(entry.podSet, entry.container)} downloads about {entry.size.gigabytes} GB of weights ({entry.size.name} with {entry.size.bits} bits) into its own files, but has a limit for ephemeral-storage of {amounts.bytes(limit)}",
		"remedy": $"raise the limit above {entry.size.gigabytes} GB, or mount a volume for the cache of models",
		"assumption": "usher assumes that the model is as large as its name says",
	}
}

_servers := [object.union(entry, {"size": entry.container.parallelism.model, "cache": cache}) |
	some entry in serving.downloading_servers
	cache := _cache(entry.container)
]

# A server that spans several pods downloads the whole model into each.
_is_too_small(entry, bytes) if bytes < entry.size.gigabytes * 900000000

_own_limit(entry) := entry.container.resources["ephemeral-storage"].limits.value

_cache(container) := container.parallelism.model.directory if container.parallelism.model.directory != ""

_cache(container) := _by_variables(container) if container.parallelism.model.directory == ""

_by_variables(container) := container.environment[_chosen(container)[0]].value

_by_variables(container) := _defaults[container.parallelism.server] if count(_chosen(container)) == 0

# The first of them counts.
_variables := ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "HOME"]

_chosen(container) := [name | some name in _variables; container.environment[name]]

# Where the images of servers keep models.
_defaults := {
	"SGLang": "/root/.cache/huggingface",
	"TensorRT-LLM": "/root/.cache/huggingface",
	"Text Generation Inference": "/data",
	"vLLM": "/root/.cache/huggingface",
}

# The volume that is mounted at the cache or closest above it.
_volumes(entry) := [index |
	some index, volume in entry.podSet.volumes
	some mount in entry.container.volumeMounts
	mount.name == volume.name
	count(_base(mount)) == max([count(_base(each)) | some each in entry.container.volumeMounts; _holds(each, entry.cache)])
	_holds(mount, entry.cache)
]

_base(mount) := $"{trim_right(mount.mountPath, "/")}/"

_holds(mount, path) if startswith($"{trim_right(path, "/")}/", _base(mount))

_limits(entry, index) := [limit |
	some limit in array.concat(_of_directory(entry, index), _of_claim(entry, index))
]

_of_directory(entry, index) := [{
	"bytes": entry.podSet.volumes[index].emptyDir.sizeLimit.value,
	"path": $"{workload.volume_path(entry.podSet, index)}/emptyDir/sizeLimit",
	"what": "its volume has a sizeLimit",
}] if {
	entry.podSet.volumes[index].emptyDir.sizeLimit
} else := [{
	"bytes": _own_limit(entry),
	"path": $"{entry.container.path}/resources/limits/ephemeral-storage",
	"what": "the container has a limit for ephemeral-storage",
}] if {
	volume := entry.podSet.volumes[index]
	volume.emptyDir
	not volume.emptyDir.medium
	count(entry.podSet.containers) == 1
	_own_limit(entry)
} else := [{
	"bytes": entry.container.resources.memory.limits.value,
	"path": $"{entry.container.path}/resources/limits/memory",
	"what": "its volume is in memory, and the container has a limit",
}] if {
	entry.podSet.volumes[index].emptyDir.medium == "Memory"
	entry.container.resources.memory.limits
} else := []

_of_claim(entry, index) := [{
	"bytes": input.beside.diskSizes[name],
	"path": workload.volume_path(entry.podSet, index),
	"what": "its claim asks for a disk",
}] if {
	name := entry.podSet.volumes[index].persistentVolumeClaim.claimName
	input.beside.diskSizes[name]
} else := []
