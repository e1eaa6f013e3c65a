# METADATA
# title: Mount /etc/nccl.conf for ranks that do not see the container's variables
# description: |
#   sshd starts the ranks on the workers of an MPIJob, and of a Volcano Job with the plugin mpi. sshd gives them an
#   empty environment, so the variables of the pod template never reach them. NCCL also reads /etc/nccl.conf. Where the
#   fabric profile names a ConfigMap with this file, the webhook mounts it into the training containers of these pods.
#   Variables that mpirun passes with -x override the file.
#   All other ranks see the variables of their container and need no file. A container that mounts something at this
#   path keeps its own mount. A pod whose ConfigMap is missing from its namespace would never start, so the webhook adds
#   nothing where it knows that the ConfigMap is missing.
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

_why_not(entry) := "its ranks already see the container's variables" if entry.podSet.ranksInheritEnvironment

else := $"fabric {entry.fabric} has no ncclConf, so mpirun must pass the variables of its ranks with -x" if not entry.profile.ncclConf

else := "the runtime sets the mounts of these pods, so a change to this template would not reach them" if not entry.podSet.changeable

else := $"the container already mounts something at {entry.profile.ncclConf.path} or above it" if {
	fabric.mounted_by_others(entry.container, entry.profile.ncclConf.path, _volume)
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
