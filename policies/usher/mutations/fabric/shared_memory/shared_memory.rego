# METADATA
# title: Give training containers shared memory
# description: |
#   A container begins with 64 MiB at /dev/shm, too little for ranks that exchange data there and for the workers of a
#   data loader. Training containers with several GPUs, and those of workloads of several pods, get a volume in memory
#   instead. What lies there counts as memory of the container, so its size is half of the smallest memory limit among
#   the training containers of the pod, of 64Gi at most. Without any memory limit nothing says how much memory it may
#   take, and nothing is given. What is mounted at /dev/shm or above it stays, and so does the shared memory of the
#   node (hostIPC). KubeRay mounts some by itself, and a TrainJob leaves its mounts to its runtime.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
#     description: Kubernetes on volumes in memory
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
#     description: NVIDIA on NCCL and shared memory
# schemas:
#   - input: schema.input
# custom:
#   code: USM704
#   order: 73
#   about: accelerator pods
#   promises: [fabric/shared_memory_missing]
package usher.mutations.fabric.shared_memory

import data.usher.lib.fabric
import data.usher.lib.parameters
import data.usher.lib.workload

intents contains intent if {
	some entry in _wanting
	size := _size(entry.podSet)

	intent := {
		"at": entry.container.path,
		"field": "mount",
		"value": {
			"volume": {"name": "usher-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}},
			"mountPath": "/dev/shm",
		},
		"reason": "training needs more shared memory than the 64 MiB of a container",
	}
}

_wanting := [entry |
	some entry in _training
	entry.podSet.changeable
	fabric.lacks_shared_memory(entry.podSet, entry.container)
]

_training := [entry |
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.type == "container"
	_exchanges_data(container)
	entry := {"podSet": pod_set, "container": container}
]

_exchanges_data(container) if {
	fabric.gpus(container, parameters.fabric.shared_memory_missing.resources) > 1
}

_exchanges_data(container) if {
	workload.makes_several_pods
	fabric.trains(container)
}

_mebibyte := 1048576

_least := 64

_most := 65536

# Amounts of any size compare exactly; only those below the bound are computed with.
_size(pod_set) := "64Gi" if _limit(pod_set) >= (2 * _most) * _mebibyte

_size(pod_set) := _written(half) if {
	limit := _limit(pod_set)
	limit < (2 * _most) * _mebibyte
	half := floor(limit / (2 * _mebibyte))
	half > _least
}

# As the API server writes it, so that it is recognised in what is stored.
_written(mebibytes) := $"{mebibytes / 1024}Gi" if mebibytes % 1024 == 0

_written(mebibytes) := $"{mebibytes}Mi" if mebibytes % 1024 != 0

_limit(pod_set) := min([limit |
	some entry in _training
	entry.podSet.path == pod_set.path
	limit := _limit_of(entry).value
])

_limit_of(entry) := entry.container.resources.memory.limits

_limit_of(entry) := entry.podSet.podLimits.memory if not entry.container.resources.memory.limits

skips contains {"at": "", "reason": $"a workload for {input.workload.role} is given no shared memory: only training is"} if {
	input.workload.role != "training"
}

skips contains {"at": pod_set.path, "reason": _why_not(pod_set)} if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
}

skips contains {"at": entry.container.path, "reason": "it has a mount at /dev/shm or above it"} if {
	some entry in _training
	fabric.mounted(entry.container, "/dev/shm")
}

_why_not(pod_set) := why if why := fabric.why_shared_memory(pod_set)

else := "no container of it has several GPUs, and one pod does not exchange data with another" if not _trains(pod_set)

else := "what is written into this template would not reach its pods, whose runtime says what they mount" if not pod_set.changeable

else := "without a memory limit nothing says how much memory it may take" if not _limit(pod_set)

else := "half of its memory limit is no more than the 64 MiB that it begins with" if not _size(pod_set)

_trains(pod_set) if {
	some entry in _training
	entry.podSet.path == pod_set.path
}
