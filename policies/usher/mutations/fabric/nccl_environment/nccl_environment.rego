# METADATA
# title: Give training pods the variables of their fabric
# description: |
#   NCCL falls back to slow sockets, quietly, when it is not told about the interconnect. Training containers of a
#   workload of several pods get the variables of the fabric profile that usher.yaml names for their node pool, if all
#   pools on which the pods could run have the same one. Containers without an accelerator, init containers and
#   sidecars are left alone, and so are ranks that would never see the variables: mpirun starts those of an MPIJob's
#   workers through sshd. A variable that the container sets in `env` stays as it is; one that it takes from elsewhere
#   by `envFrom` cannot be seen, and is not covered up either: the user is warned. A pod on the network of its node is
#   not told to use eth0, which is what a pod's own interface is called.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the environment variables of NCCL
# schemas:
#   - input: schema.input
# custom:
#   code: USM701
#   order: 70
#   about: accelerator pods
package usher.mutations.fabric.nccl_environment

import data.usher.lib.fabric

intents contains intent if {
	some entry in fabric.training_containers
	entry.podSet.ranksInheritEnvironment
	some name, value in entry.profile.env
	not _is_elsewhere(entry.podSet, value)

	intent := {
		"at": entry.container.path,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": fabric.reason(entry),
	}
}

# A container's runtime calls the interface of every pod eth0; those of nodes have names of their own.
_is_elsewhere(pod_set, value) if {
	pod_set.hostNetwork
	"eth0" in split(trim_prefix(value, "="), ",")
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.podSet.path, "reason": reason} if {
	some entry in fabric.training_containers
	not entry.podSet.ranksInheritEnvironment
	reason := "sshd starts its ranks, which see nothing of the container's variables: mpirun hands on what -x names, and NCCL reads /etc/nccl.conf"
}

skips contains {"at": entry.container.path, "reason": $"fabric {entry.fabric} has no variables"} if {
	some entry in fabric.training_containers
	count(entry.profile.env) == 0
}

skips contains {"at": entry.podSet.path, "reason": $"it is on the network of its node, where no interface need be called eth0 as {name} says"} if {
	some entry in fabric.training_containers
	entry.podSet.ranksInheritEnvironment
	some name, value in entry.profile.env
	_is_elsewhere(entry.podSet, value)
}
