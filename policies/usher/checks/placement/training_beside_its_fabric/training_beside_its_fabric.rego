# METADATA
# title: Pods that work together over several nodes use their fast network
# description: |
#   A pod reaches the fast network of its node only through a device that it asks for, for example rdma/ib or
#   vpc.amazonaws.com/efa. Without it NCCL uses TCP, often a tenth as fast, and says so only in its log. The check knows the
#   nodes: it reports pods that train or wait for each other, ask for all GPUs of their nodes, and do not ask for a device for RDMA that
#   all these nodes offer.
#
#   It skips pods with the network of the node, device claims and networks of Multus or GKE, and containers whose author
#   switched the fast network off. Where usher.yaml declares the pool with its fabric, the webhook adds the device.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/aicr/issues/2276
#     description: A report about training that falls back to TCP
#   - ref: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin
#     description: The device plugin for shared RDMA devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH348
#   about: cluster facts
#   severity: medium
#   why: The GPUs wait for a slow network, and the work takes several times as long.
#   remediation: |
#     Ask for the device, for example rdma/ib of 1, with the capability IPC_LOCK. Or declare the pool with its fabric in
#     usher.yaml, so that the webhook adds both.
package usher.checks.placement.training_beside_its_fabric

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	device := input.cluster.nodes.fabric[pod_set.path]
	not fabric.has_network_device_of_its_own(pod_set)
	not _switched_off(pod_set)

	finding := {
		"path": pod_set.path,
		"message": $"{workload.pod_set_name(pod_set)} takes whole nodes and does not ask for {device}, which all of them offer, so NCCL uses TCP between nodes",
		"remedy": $"ask for {device}, or declare the pool with its fabric in usher.yaml",
	}
}

_switched_off(pod_set) if {
	some container in pod_set.containers
	not container.environment.NCCL_IB_DISABLE.value in ["", "0"]
	container.environment.NCCL_IB_DISABLE
}

_switched_off(pod_set) if {
	some container in pod_set.containers
	lower(container.environment.NCCL_NET.value) == "socket"
}
