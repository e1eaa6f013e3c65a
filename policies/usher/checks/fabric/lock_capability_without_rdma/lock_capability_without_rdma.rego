# METADATA
# title: Only pods on an RDMA fabric lock memory
# description: |
#   The capability IPC_LOCK lets a process keep memory from being moved, which RDMA needs to register its buffers. The
#   Pod Security standards baseline and restricted both forbid it, so a namespace that has to allow it gives up all the
#   rest of them. A container that asks for no network device gains nothing by it. Whatever may give it one counts: any
#   device beside accelerators, device claims, networks of Multus and of GKE, and the network of the node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
#   - ref: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin
#     description: The device plugin for shared RDMA devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH911
#   about: accelerator pods
#   severity: low
#   why: For one needless capability the namespace has to do without Pod Security.
#   closes: [S32, S37]
#   remediation: Remove IPC_LOCK, or ask for the RDMA device for which it is meant.
package usher.checks.fabric.lock_capability_without_rdma

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	some index, capability in container.securityContext.capabilities.add
	trim_prefix(upper(capability), "CAP_") == "IPC_LOCK"
	not fabric.has_network_device(pod_set)

	finding := {
		"path": $"{container.path}/securityContext/capabilities/add/{index}",
		"message": $"{workload.container_name(pod_set, container)} may lock memory, which only RDMA needs, and asks for no network device",
		"remedy": "remove IPC_LOCK, or ask for the RDMA device",
	}
}
