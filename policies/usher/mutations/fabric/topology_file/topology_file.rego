# METADATA
# title: Mount the topology file of virtual machines for NCCL
# description: |
#   Virtual machines hide how their GPUs and network cards are connected, so NCCL guesses its paths. Where the fabric
#   profile names a ConfigMap with the topology, the webhook mounts the file and sets NCCL_TOPO_FILE. It does so in
#   training containers of a workload with several pods. It always adds both, because NCCL fails when the variable names
#   a missing file.
#   A container that sets NCCL_TOPO_FILE or mounts something at the path keeps its own setting. Ranks that sshd starts
#   do not see the variable. Their workers get the file only if the profile also has an ncclConf, which can name the
#   file. A pod whose ConfigMap is missing from its namespace would never start, so the webhook adds nothing where it
#   knows that the ConfigMap is missing.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-topo-file
#     description: NVIDIA on NCCL_TOPO_FILE
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#configmap
#     description: Kubernetes on volumes of ConfigMaps
# schemas:
#   - input: schema.input
# custom:
#   code: USM702
#   order: 71
#   about: accelerator pods
package usher.mutations.fabric.topology_file

import data.usher.lib.fabric

_volume := "usher-nccl-topology"

intents contains intent if {
	some entry in fabric.training_containers
	file := entry.profile.topology
	not _why_not(entry)

	intent := {
		"at": entry.container.path,
		"field": "mount",
		"value": object.union(
			{
				"volume": fabric.volume(_volume, file),
				"mountPath": file.path,
				"subPath": file.key,
				"readOnly": true,
			},
			_variable(entry.podSet, file),
		),
		"reason": fabric.reason(entry),
		"needs": fabric.needs_of_volume(file),
	}
}

_variable(pod_set, file) := {"variable": {"name": "NCCL_TOPO_FILE", "value": file.path}} if {
	pod_set.ranksInheritEnvironment
}

_variable(pod_set, _) := {} if not pod_set.ranksInheritEnvironment

_why_not(entry) := $"fabric {entry.fabric} names no topology file" if not entry.profile.topology

else := "the runtime sets the mounts of these pods, so a change to this template would not reach them" if not entry.podSet.changeable

else := "the container already sets NCCL_TOPO_FILE" if _sets_variable(entry)

else := $"the container already mounts something at {entry.profile.topology.path} or above it" if {
	fabric.mounted_by_others(entry.container, entry.profile.topology.path, _volume)
}

else := "sshd starts its ranks, so they do not see NCCL_TOPO_FILE, and the fabric has no ncclConf to name the file" if {
	not entry.podSet.ranksInheritEnvironment
	not entry.profile.ncclConf
}

# If the pod has usher's volume, usher set the variable too.
_sets_variable(entry) if {
	entry.container.environment.NCCL_TOPO_FILE
	not _has_volume(entry.podSet)
}

_has_volume(pod_set) if {
	some volume in pod_set.volumes
	volume.name == _volume
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
