# METADATA
# title: The size of /dev/shm is below the memory limit
# description: |
#   Files in a volume of medium Memory count as memory of the container that writes them, so they count against its
#   limit. If the `sizeLimit` of the volume at /dev/shm is as large as the memory limit or larger, the container cannot
#   fill the volume: the kernel kills it first. The check looks only at containers that ask for accelerators. It
#   compares with the limit of the container, or with the limit of the whole pod if the container has no limit.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
#     description: Kubernetes on volumes in memory
# schemas:
#   - input: schema.input
# custom:
#   code: USH910
#   about: accelerator pods
#   severity: medium
#   why: The kernel kills the container while its shared memory still seems to have room.
#   closes: [S31]
#   remediation: |
#     Make the `sizeLimit` smaller than the memory limit by as much memory as the processes themselves need. Or raise
#     the limit.
package usher.checks.fabric.shared_memory_above_limit

import data.usher.lib.amounts
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.asksAccelerators
	some mount in container.volumeMounts
	trim_right(mount.mountPath, "/") == "/dev/shm"
	some index in _limited[pod_set.path][mount.name]
	size := pod_set.volumes[index].emptyDir.sizeLimit.value
	limit := _limit(pod_set, container).value
	size >= limit

	finding := {
		"path": $"{workload.volume_path(pod_set, index)}/emptyDir/sizeLimit",
		"message": $"{workload.container_name(pod_set, container)} has {amounts.bytes(size)} of shared memory, but this memory counts against its limit of {amounts.bytes(limit)}",
		"remedy": "make sizeLimit smaller than the memory limit, so that the processes have enough memory",
	}
}

_limited[pod_set.path][volume.name] contains index if {
	some pod_set in workload.accelerator_pod_sets
	some index, volume in pod_set.volumes
	volume.emptyDir.medium == "Memory"
	volume.emptyDir.sizeLimit
}

_limit(_, container) := container.resources.memory.limits

_limit(pod_set, container) := pod_set.podLimits.memory if not container.resources.memory.limits
