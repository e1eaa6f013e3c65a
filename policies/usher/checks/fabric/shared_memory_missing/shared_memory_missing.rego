# METADATA
# title: Training on several GPUs has shared memory
# description: |
#   A container begins with 64 MiB at /dev/shm. Ranks on one node exchange data there, and the workers of PyTorch's data
#   loader hand over whole batches: training on several GPUs of a container soon ends with a bus error, or NCCL finds no
#   room for its segments. What is mounted at /dev/shm or above it, and the shared memory of the node (hostIPC), are
#   enough. KubeRay mounts some by itself, and a TrainJob leaves its mounts to the runtime.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
#     description: Kubernetes on volumes in memory
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
#     description: NVIDIA on NCCL and shared memory
# schemas:
#   - input: schema.input
# custom:
#   code: USH909
#   about: accelerator pods
#   severity: medium
#   why: The job dies with a bus error, hours into its first epoch perhaps.
#   closes: [S31]
#   parameters:
#     resources:
#       default: [nvidia.com/gpu, amd.com/gpu]
#       description: Resources of which one is a whole GPU.
#   remediation: |
#     Add a volume `emptyDir: {medium: Memory, sizeLimit: ...}` and mount it at /dev/shm. What lies there counts as memory
#     of the container, so keep the size below its memory limit.
package usher.checks.fabric.shared_memory_missing

import data.usher.lib.fabric
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	gpus := fabric.gpus(container, parameters.fabric.shared_memory_missing.resources)
	gpus > 1
	fabric.lacks_shared_memory(pod_set, container)

	finding := {
		"path": $"{container.path}/volumeMounts",
		"message": $"{workload.container_name(pod_set, container)} trains on {gpus} GPUs with 64 MiB of shared memory, for nothing is mounted at /dev/shm",
		"remedy": "mount an emptyDir of medium Memory at /dev/shm, with a sizeLimit below the memory limit",
	}
}
