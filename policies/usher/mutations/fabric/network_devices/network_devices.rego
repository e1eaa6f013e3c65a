# METADATA
# title: Give training containers the devices of their fabric
# description: |
#   RDMA needs a device inside the container, which Kubernetes hands out as an extended resource: rdma/ib, or
#   vpc.amazonaws.com/efa. Without one NCCL goes over the ordinary network of the pod. Training containers of a
#   workload of several pods get a limit of every resource that the fabric profile lists, unless they name the
#   resource themselves.
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

skips contains {"at": entry.container.path, "reason": $"fabric {entry.fabric} has no devices"} if {
	some entry in fabric.training_containers
	count(entry.profile.resources) == 0
}

skips contains {"at": entry.container.path, "reason": $"it says itself how much of {name} it asks for"} if {
	some entry in fabric.training_containers
	some name, _ in entry.profile.resources
	entry.container.resources[name]
}
