# METADATA
# title: Set the NCCL variables of the fabric in training containers
# description: |
#   NCCL falls back to slow sockets, without an error, if its variables do not describe the interconnect. The webhook
#   adds the variables of the fabric profile to training containers of a workload with several pods. usher.yaml names
#   the profile for each node pool. All pools on which the pods can run must have the same profile; if they differ, the
#   webhook warns the user.
#   The webhook skips containers without an accelerator, init containers and sidecars. It also skips the workers of an
#   MPIJob: sshd starts their ranks, which would never see the variables. A variable that the container sets in `env`
#   stays unchanged. A variable from `envFrom` is not visible here; the webhook does not override it and warns the user.
#   A pod on the network of its node gets no variable that names the interface eth0, because only a pod's own interface
#   has this name.
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
import data.usher.lib.rdma

intents contains intent if {
	some entry in fabric.training_containers
	entry.podSet.ranksInheritEnvironment
	some name, value in entry.profile.env
	not _why_not(entry, name, value)

	intent := {
		"at": entry.container.path,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": fabric.reason(entry),
	}
}

_why_not(entry, name, value) := $"it uses the network of its node, which may have no interface eth0, so the webhook does not set {name}" if {
	fabric.names_interface_of_pods(entry.podSet, value)
}

else := $"the container sets {rdma.switched_off(entry)}, so the webhook does not set {name}" if {
	rdma.switched_off(entry)
	rdma.is_for_infiniband(name)
}

else := $"the container asks for {pages[0]}, so the webhook does not switch huge pages off ({name})" if {
	name == "FI_EFA_USE_HUGE_PAGE"
	pages := [resource | some resource, _ in entry.container.resources; startswith(resource, "hugepages-")]
	count(pages) > 0
}

warnings contains ambiguity if some ambiguity in fabric.ambiguities

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.podSet.path, "reason": reason} if {
	some entry in fabric.training_containers
	not entry.podSet.ranksInheritEnvironment
	reason := "sshd starts its ranks, so they do not see the container's variables; pass these with mpirun -x or in /etc/nccl.conf"
}

skips contains {"at": entry.container.path, "reason": $"fabric {entry.fabric} sets no variables"} if {
	some entry in fabric.training_containers
	count(entry.profile.env) == 0
}

skips contains {"at": entry.container.path, "reason": reason} if {
	some entry in fabric.training_containers
	entry.podSet.ranksInheritEnvironment
	some name, value in entry.profile.env
	reason := _why_not(entry, name, value)
}
