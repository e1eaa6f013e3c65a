# METADATA
# title: Give training containers the devices of their fabric
# description: |
#   RDMA needs a device inside the container. Kubernetes offers this device as an extended resource, for example rdma/ib
#   or vpc.amazonaws.com/efa. Without it NCCL uses the ordinary network of the pod. The webhook adds a limit for every
#   resource in the fabric profile to training containers of a workload with several pods. A container with a part of
#   the GPUs of a node gets the same part of the devices, but at least one, where the pool says how many GPUs a node has.
#   A MIG instance gets one of each device, and GPUs of device claims count too. The webhook skips a resource that the
#   container already names, rdma/ib where the container asks for another rdma device, and pods that share a GPU with
#   others. It adds no device for InfiniBand where the container switches InfiniBand off (NCCL_IB_DISABLE), and no device
#   with NCCL_NET=Socket. It adds no device where other pods of the job that train get no device: NCCL uses what all pods have.
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
import data.usher.lib.rdma
import data.usher.lib.shares_of_nodes as shares

intents contains intent if {
	some entry in fabric.training_containers
	some name, amount in entry.profile.resources
	not entry.container.resources[name]
	not _another(entry, name)
	not rdma.has_no_use_for(entry, name)
	not fabric.shares_gpus(entry.podSet)
	count(fabric.without_network_device) == 0
	share := _share(entry, amount)

	intent := {
		"at": entry.container.path,
		"field": "resource",
		"value": {"name": name, "amount": $"{share}"},
		"reason": fabric.reason(entry),
	}
}

# The part of the devices that goes with the container's part of the GPUs, so that one pod does not take those of others.
# Without any device a pod would leave the fabric, and its gang with it.
_share(entry, amount) := 1 if {
	shares.parts_of_gpus(entry)
} else := max([1, floor((amount * gpus) / of_node)]) if {
	gpus := shares.gpus(entry)
	of_node := max({fit.gpus | some fit in entry.podSet.fits})
	gpus < of_node
} else := amount

# A device for RDMA that the author chose. Nodes may have only one of the two.
_another(entry, name) := others[0] if {
	startswith(name, "rdma/")
	others := [other |
		some other, _ in entry.container.resources
		startswith(other, "rdma/")
		not entry.profile.resources[other]
	]
	count(others) > 0
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": $"the container already asks for {other}, another device like {name}"} if {
	some entry in fabric.training_containers
	some name, _ in entry.profile.resources
	not entry.container.resources[name]
	other := _another(entry, name)
}

skips contains {"at": entry.podSet.path, "reason": "its pods ask for parts of GPUs, and other pods of the node need its network devices too"} if {
	some entry in fabric.training_containers
	fabric.shares_gpus(entry.podSet)
}

skips contains {"at": entry.podSet.path, "reason": $"{other} of the same job gets no network device, so the pods have no fast network in common"} if {
	other := fabric.without_network_device[0]
	some entry in fabric.training_containers
	count(entry.profile.resources) > 0
	not fabric.shares_gpus(entry.podSet)
}

skips contains {"at": entry.container.path, "reason": $"fabric {entry.fabric} lists no devices"} if {
	some entry in fabric.training_containers
	count(entry.profile.resources) == 0
}

skips contains {"at": entry.container.path, "reason": $"the container already asks for {name}"} if {
	some entry in fabric.training_containers
	some name, _ in entry.profile.resources
	entry.container.resources[name]
}

skips contains {"at": entry.container.path, "reason": $"the container sets {rdma.switched_off(entry)}, so it does not use {name}"} if {
	some entry in fabric.training_containers
	some name, _ in entry.profile.resources
	rdma.has_no_use_for(entry, name)
}
