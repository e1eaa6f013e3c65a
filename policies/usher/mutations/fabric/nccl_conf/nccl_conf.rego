# METADATA
# title: Mount NCCL's settings for ranks that see no variables
# description: |
#   The ranks on the workers of an MPIJob, and of a Volcano Job with the plugin mpi, are started by sshd, which begins
#   with an empty environment: variables of the template never reach them. NCCL also reads /etc/nccl.conf. Where the
#   fabric profile names a ConfigMap with such a file, the training containers of these pods get it; variables that
#   mpirun hands on with -x still count for more. All other ranks see the variables of their container and need no
#   file. A container that mounts something there decides itself. A pod whose ConfigMap is not in its namespace would
#   never start, so nothing is given where it is known to be missing.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the variables of NCCL and its file
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi/
#     description: Kubeflow on MPIJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USM703
#   order: 72
#   about: accelerator pods
package usher.mutations.fabric.nccl_conf

import data.usher.lib.fabric

_volume := "usher-nccl-conf"

intents contains intent if {
	some entry in fabric.training_containers
	file := entry.profile.ncclConf
	not _why_not(entry)

	intent := {
		"at": entry.container.path,
		"field": "mount",
		"value": {
			"volume": fabric.volume(_volume, file),
			"mountPath": file.path,
			"subPath": file.key,
			"readOnly": true,
		},
		"reason": fabric.reason(entry),
		"needs": fabric.needs_of_volume(file),
	}
}

_why_not(entry) := "its ranks see the container's variables" if entry.podSet.ranksInheritEnvironment

else := $"fabric {entry.fabric} has no ncclConf: until it has, mpirun must hand on with -x what its ranks need" if not entry.profile.ncclConf

else := "what is written into this template would not reach its pods, whose runtime says what they mount" if not entry.podSet.changeable

else := $"something is mounted at {entry.profile.ncclConf.path} or above it" if {
	fabric.mounted_by_others(entry.container, entry.profile.ncclConf.path, _volume)
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
