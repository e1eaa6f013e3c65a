# METADATA
# title: Give training containers shared memory
# description: |
#   A container starts with 64 MiB at /dev/shm. That is too little for ranks that exchange data there and for the
#   workers of a data loader. The webhook mounts a memory volume at /dev/shm in training containers with several GPUs,
#   and in training containers of workloads with several pods.
#   Files in the volume count as memory of the container. The volume is therefore half as large as the smallest memory
#   limit of the pod's training containers, and at most 64Gi. Without a limit the smallest memory request counts.
#   `sharedMemory` of usher.yaml can set the size, a size for containers without both, and other roles. Models that span
#   several pods get shared memory as training does.
#   The webhook keeps existing mounts at /dev/shm or above it, and the shared memory of the node (hostIPC). KubeRay
#   mounts shared memory itself. The runtime of a TrainJob sets its mounts.
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

import data.usher.lib.cooperation
import data.usher.lib.fabric
import data.usher.lib.parameters
import data.usher.lib.workload

intents contains intent if {
	_has_role
	some pod_set in workload.accelerator_pod_sets
	containers := _wanting(pod_set)
	containers != []
	size := _size(pod_set)
	some container in containers

	intent := {
		"at": container.path,
		"field": "mount",
		"value": {
			"volume": {"name": "usher-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}},
			"mountPath": "/dev/shm",
		},
		"reason": $"{_what} needs more than the 64 MiB of shared memory that a container starts with",
	}
}

_what := "training" if input.workload.role == "training"

_what := "training" if cooperation.tests_network

_what := "a model that spans pods" if cooperation.spans_pods

_what := $"the role {input.workload.role}" if {
	input.workload.role != "training"
	not cooperation.tests_network
	not cooperation.spans_pods
}

_has_role if input.workload.role in input.site.sharedMemory.roles

_has_role if {
	"training" in input.site.sharedMemory.roles
	cooperation.spans_pods
}

_has_role if {
	"training" in input.site.sharedMemory.roles
	cooperation.tests_network
}

_wanting(pod_set) := [container |
	pod_set.changeable
	some container in _training(pod_set)
	fabric.lacks_shared_memory(pod_set, container)
]

_training(pod_set) := [container |
	some container in pod_set.containers
	container.type == "container"
	_exchanges_data(container)
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

_size(pod_set) := _written(size) if {
	size := _mebibytes(pod_set)
	size > _least
}

_mebibytes(pod_set) := min([wanted, _half(limit)]) if {
	wanted := input.site.sharedMemory.size
	limit := _smallest(pod_set, "limits")
} else := input.site.sharedMemory.size if {
	input.site.sharedMemory.size
} else := _half(limit) if {
	limit := _smallest(pod_set, "limits")
} else := _half(request) if {
	request := _smallest(pod_set, "requests")
} else := input.site.sharedMemory.fallback

# Amounts of any size compare exactly; arithmetic uses only those below the bound.
_half(bytes) := _most if bytes >= (2 * _most) * _mebibyte

_half(bytes) := floor(bytes / (2 * _mebibyte)) if bytes < (2 * _most) * _mebibyte

# Written as the API server writes it, so that usher recognises it in the stored object.
_written(mebibytes) := $"{mebibytes / 1024}Gi" if mebibytes % 1024 == 0

_written(mebibytes) := $"{mebibytes}Mi" if mebibytes % 1024 != 0

_smallest(pod_set, list) := min([amount |
	some container in _training(pod_set)
	amount := _amount(pod_set, container, list).value
])

_amount(_, container, list) := container.resources.memory[list]

_amount(pod_set, container, list) := _of_pod(pod_set, list) if not container.resources.memory[list]

_of_pod(pod_set, "limits") := pod_set.podLimits.memory

_of_pod(pod_set, "requests") := pod_set.podRequests.memory

skips contains {"at": "", "reason": $"the role of the workload is {input.workload.role}, which sharedMemory.roles of usher.yaml does not list"} if {
	not _has_role
}

skips contains {"at": pod_set.path, "reason": _why_not(pod_set)} if {
	_has_role
	some pod_set in workload.accelerator_pod_sets
}

skips contains {"at": container.path, "reason": "the container already has a mount at /dev/shm or above it"} if {
	_has_role
	some pod_set in workload.accelerator_pod_sets
	some container in _training(pod_set)
	fabric.mounted(container, "/dev/shm")
}

_why_not(pod_set) := why if why := fabric.why_shared_memory(pod_set)

else := "its containers use at most one GPU each, and the workload has only one pod" if not _trains(pod_set)

else := "the runtime sets the mounts of these pods, so a change to this template would not reach them" if not pod_set.changeable

else := "its containers have neither a memory limit nor a memory request, so usher cannot choose a size; set sharedMemory.fallback in usher.yaml" if {
	not _mebibytes(pod_set)
}

else := "half of its memory is at most 64 MiB, which every container starts with" if not _size(pod_set)

_trains(pod_set) if _training(pod_set) != []
