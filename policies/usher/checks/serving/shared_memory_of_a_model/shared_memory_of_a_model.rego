# METADATA
# title: A model on several GPUs mounts shared memory
# description: |
#   A server that splits its model by tensor parallelism starts one process for each GPU. The processes exchange data at
#   /dev/shm, where a container starts with 64 MiB. That is too little, so the server ends with an error of NCCL or a bus
#   error. A mount at /dev/shm or above it is enough if its sizeLimit is above that, and so is the
#   shared memory of the node (hostIPC).
#
#   The check reads the parallel sizes of servers that it knows. It skips pods that run already, containers that KServe
#   merges with a runtime or a preset, because a mount may be there, and Ray, where KubeRay mounts shared memory itself.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/deployment/k8s/
#     description: vLLM on shared memory for tensor parallel inference
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
#     description: NVIDIA on NCCL and shared memory
# schemas:
#   - input: schema.input
# custom:
#   code: USH1045
#   about: accelerator pods
#   severity: medium
#   why: The server ends at its start, again and again, and its GPUs do nothing.
#   remediation: |
#     Add a volume `emptyDir: {medium: Memory, sizeLimit: ...}` and mount it at /dev/shm. Its files count as memory of
#     the container, so keep the size below the memory limit. The webhook does so if sharedMemory.roles of usher.yaml has
#     inference.
package usher.checks.serving.shared_memory_of_a_model

import data.usher.lib.amounts
import data.usher.lib.fabric
import data.usher.lib.gpus
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some entry in serving.model_servers
	not entry.podSet.placed
	size := entry.container.parallelism.tensor
	size > 1
	not gpus.of_container(entry.podSet, entry.container) == 1
	fabric.lacks_shared_memory(entry.podSet, entry.container)
	not serving.merged(entry.container.path)

	finding := {
		"path": $"{entry.container.path}/volumeMounts",
		"message": $"{workload.container_name(entry.podSet, entry.container)} splits its model with tensor parallel size {size}, but has only the default of 64 MiB of shared memory, too little for its processes",
		"remedy": "mount an emptyDir of medium Memory at /dev/shm, sized below the memory limit",
	}
}

deny contains finding if {
	some entry in serving.model_servers
	not entry.podSet.placed
	size := entry.container.parallelism.tensor
	size > 1
	some mount in entry.container.volumeMounts
	trim_right(mount.mountPath, "/") == "/dev/shm"
	some index, volume in entry.podSet.volumes
	volume.name == mount.name
	bytes := volume.emptyDir.sizeLimit.value
	bytes <= _default

	finding := {
		"path": $"{workload.volume_path(entry.podSet, index)}/emptyDir/sizeLimit",
		"message": $"{workload.container_name(entry.podSet, entry.container)} splits its model with tensor parallel size {size}, but has {amounts.bytes(bytes)} of shared memory, too little for its processes",
		"remedy": "raise sizeLimit to some GiB, below the memory limit",
	}
}

# What a container has without a mount.
_default := 67108864
