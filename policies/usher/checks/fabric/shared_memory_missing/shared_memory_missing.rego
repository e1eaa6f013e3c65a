# METADATA
# title: Training on several GPUs mounts shared memory
# description: |
#   A container starts with 64 MiB at /dev/shm. Ranks on one node exchange data there, and the workers of PyTorch's data
#   loader pass whole batches through it. Training on several GPUs of a container soon ends with a bus error, or NCCL
#   finds no room for its segments. A mount at /dev/shm or above it is enough, and so is the shared memory of the node
#   (hostIPC). KubeRay mounts shared memory itself, and a TrainJob leaves its mounts to the runtime. JAX and TensorFlow
#   drive all GPUs of a pod from one process, so the check skips their kinds.
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
#   why: The job ends with a bus error, perhaps hours after it started.
#   closes: [S31]
#   parameters:
#     resources:
#       default: [nvidia.com/gpu, amd.com/gpu]
#       description: Resources that count whole GPUs.
#   remediation: |
#     Add a volume `emptyDir: {medium: Memory, sizeLimit: ...}` and mount it at /dev/shm. Its files count as memory of
#     the container, so keep the size below the memory limit.
package usher.checks.fabric.shared_memory_missing

import data.usher.lib.fabric
import data.usher.lib.parameters
import data.usher.lib.workload

# JAX and TensorFlow drive all GPUs of a pod from one process.
_of_one_process := ["JAXJob", "TFJob"]

deny contains finding if {
	input.workload.role == "training"
	not input.workload.kind in _of_one_process
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	count(container.accelerators) > 0
	gpus := fabric.gpus(container, parameters.fabric.shared_memory_missing.resources)
	gpus > 1
	fabric.lacks_shared_memory(pod_set, container)

	finding := {
		"path": $"{container.path}/volumeMounts",
		"message": $"{workload.container_name(pod_set, container)} trains on {gpus} GPUs with the default of 64 MiB of shared memory, too little for its processes",
		"remedy": "mount an emptyDir of medium Memory at /dev/shm, sized below the memory limit",
	}
}
