# METADATA
# title: Give training containers the devices of their fabric
# description: |
#   RDMA needs a device inside the container. Kubernetes offers this device as an extended resource, for example rdma/ib
#   or vpc.amazonaws.com/efa. Without it NCCL uses the ordinary network of the pod. The webhook adds a limit for every
#   resource in the fabric profile to training containers of a workload with several pods. It skips a resource that the
#   container already names.
# scope: package
# related_resources:
#   - ref: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin
#     description: The device plugin for shared RDMA devices
#   - ref: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
#     description: AWS on EFA in EKS
# schemas:
#   - input: schema.input
# custom:
#   code: USM705
#   order: 74
#   about: accelerator pods
package usher.mutations.fabric.network_devices

import data.usher.lib.fabric

intents contains intent if {
	some entry in fabric.training_containers
	some name, amount in entry.profile.resources
	not entry.container.resources[name]

	intent := {
		"at": entry.container.path,
		"field": "resource",
		"value": {"name": name, "amount": $"{amount}"},
		"reason": fabric.reason(entry),
	}
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": $"fabric {entry.fabric} lists no devices"} if {
	some entry in fabric.training_containers
	count(entry.profile.resources) == 0
}

skips contains {"at": entry.container.path, "reason": $"the container already asks for {name}"} if {
	some entry in fabric.training_containers
	some name, _ in entry.profile.resources
	entry.container.resources[name]
}
