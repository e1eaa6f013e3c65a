# METADATA
# title: Pods on the network of their node name no interface of pods
# description: |
#   With `hostNetwork: true` a container sees the interfaces of its node. `eth0` is the interface that the container
#   runtime makes for a pod; on many nodes no interface has this name (`ens5`, `enp9s0f0`, `bond0`). NCCL and Gloo then find
#   no interface and fail when they start. The check looks at variables that name interfaces, in pods with accelerators.
#   Values of NCCL that begin with `^` leave interfaces out and are good; Gloo takes names alone.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
#     description: NVIDIA on NCCL_SOCKET_IFNAME
#   - ref: https://docs.pytorch.org/docs/stable/distributed.html#choosing-the-network-interface-to-use
#     description: PyTorch on the interfaces of NCCL and Gloo
# schemas:
#   - input: schema.input
# custom:
#   code: USH920
#   about: accelerator pods
#   severity: low
#   why: Where the node has no interface of this name, training ends before its first step.
#   closes: [S29]
#   remediation: |
#     Remove the variable, so that the library finds the interface itself. Or leave interfaces of NCCL out instead of
#     naming one, for example `NCCL_SOCKET_IFNAME=^docker0,lo`; Gloo takes the name of the interface of the nodes.
package usher.checks.fabric.interface_on_host_network

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in fabric.rank_containers
	entry.podSet.hostNetwork
	some name, other_way in _other_ways
	variable := entry.container.environment[name]
	fabric.names_interface_of_pods(entry.podSet, variable.value)

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} is {text.excerpt(variable.value)}, but with hostNetwork the container sees the interfaces of its node, which may have no eth0",
		"remedy": $"remove {name}, or {other_way}",
	}
}

# Only NCCL can leave interfaces out.
_other_ways := {
	"GLOO_SOCKET_IFNAME": "name the interface of the nodes",
	"NCCL_SOCKET_IFNAME": "leave interfaces out: ^docker0,lo",
	"TP_SOCKET_IFNAME": "name the interface of the nodes",
}
