# METADATA
# title: Mount the topology of virtual machines where NCCL looks for it
# description: |
#   Virtual machines do not show how their GPUs and network cards hang together, and NCCL takes paths that it has
#   guessed. Where the fabric profile names a ConfigMap with the topology, training containers of a workload of
#   several pods get the file and NCCL_TOPO_FILE with it: all of it or nothing, for the variable without the file
#   makes NCCL fail. A container that sets NCCL_TOPO_FILE or mounts something there decides itself. Ranks that sshd
#   starts see no variable; their workers get the file where the profile has an ncclConf too, which can name it. A pod
#   whose ConfigMap is not in its namespace would never start, so nothing is given where it is known to be missing.
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

_why_not(entry) := $"fabric {entry.fabric} has no topology file" if not entry.profile.topology

else := "what is written into this template would not reach its pods, whose runtime says what they mount" if not entry.podSet.changeable

else := "it says itself where NCCL finds the topology" if _says_itself(entry)

else := $"something is mounted at {entry.profile.topology.path} or above it" if {
	fabric.mounted_by_others(entry.container, entry.profile.topology.path, _volume)
}

else := "sshd starts its ranks, which see nothing of NCCL_TOPO_FILE, and the fabric has no ncclConf that could name the file" if {
	not entry.podSet.ranksInheritEnvironment
	not entry.profile.ncclConf
}

# Beside a volume of ours the variable is ours as well.
_says_itself(entry) if {
	entry.container.environment.NCCL_TOPO_FILE
	not _has_volume(entry.podSet)
}

_has_volume(pod_set) if {
	some volume in pod_set.volumes
	volume.name == _volume
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
