# METADATA
# title: Shared memory fits into the memory limit
# description: |
#   Files in a volume of medium Memory are memory of the container that writes them, and count against its limit. Where
#   the `sizeLimit` of what is mounted at /dev/shm is as large as the memory limit or larger, the volume promises what the
#   container cannot have: before it is full, the kernel ends the container. Only containers that ask for accelerators are
#   looked at, with their own limit, or where they have none with that of the pod as a whole.
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
#   why: The container is killed for want of memory while its shared memory seems to have room.
#   closes: [S31]
#   remediation: |
#     Make the `sizeLimit` smaller than the memory limit by what the processes themselves need, or raise the limit.
package usher.checks.fabric.shared_memory_above_limit

import data.usher.lib.amounts
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some index, volume in pod_set.volumes
	volume.emptyDir.medium == "Memory"
	size := volume.emptyDir.sizeLimit.value
	some container in pod_set.containers
	container.asksAccelerators
	_is_shared_memory_of(container, volume)
	limit := _limit(pod_set, container).value
	size >= limit

	finding := {
		"path": $"{workload.field_path(pod_set, "volumes")}/{index}/emptyDir/sizeLimit",
		"message": $"{workload.container_name(pod_set, container)}: {amounts.bytes(size)} of shared memory count against a memory limit of {amounts.bytes(limit)}",
		"remedy": "make sizeLimit smaller than the memory limit by what the processes need",
	}
}

_is_shared_memory_of(container, volume) if {
	some mount in container.volumeMounts
	mount.name == volume.name
	trim_right(mount.mountPath, "/") == "/dev/shm"
}

_limit(_, container) := container.resources.memory.limits

_limit(pod_set, container) := pod_set.podLimits.memory if not container.resources.memory.limits
