# METADATA
# title: The capability IPC_LOCK is where it is needed and has an effect
# description: |
#   The capability IPC_LOCK lets a process pin memory. RDMA needs this to register its buffers. The Pod Security
#   standards baseline and restricted both forbid it, so a namespace that allows it loses all their other rules too. A
#   container without a network device does not need IPC_LOCK.
#
#   The check accepts everything that can give the pod a network device: any device beside accelerators, device claims,
#   networks of Multus and of GKE, and the network of the node.
#
#   Kubernetes gives added capabilities only to processes of root. For another user IPC_LOCK has no effect: the process may
#   lock what the container runtime allows, often 8 MiB, RDMA cannot register its buffers, and NCCL uses TCP. The check
#   reports this where the pod asks for a device for RDMA.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
#   - ref: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin
#     description: The device plugin for shared RDMA devices
#   - ref: https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037
#     description: Measurements of IPC_LOCK for root and for other users
# schemas:
#   - input: schema.input
# custom:
#   code: USH911
#   about: accelerator pods
#   severity: low
#   why: The namespace gives up Pod Security for a capability that the container does not need.
#   closes: [S32, S37]
#   remediation: |
#     Remove IPC_LOCK, or ask for the RDMA device that needs it. With RDMA, run as root, or raise the limit of locked memory of
#     the container runtime (LimitMEMLOCK of its systemd unit).
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
		"path": $"{workload.container_path(container, "securityContext/capabilities")}/add/{index}",
		"message": $"{workload.container_name(pod_set, container)} has IPC_LOCK, which only RDMA needs, but the pod asks for no network device",
		"remedy": "remove IPC_LOCK, or ask for the RDMA device",
	}
}

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	some index, capability in container.securityContext.capabilities.add
	trim_prefix(upper(capability), "CAP_") == "IPC_LOCK"
	count(fabric.network_devices(pod_set)) > 0
	not container.securityContext.privileged
	user := workload.user_without_capabilities(pod_set, container)

	finding := {
		"path": $"{workload.container_path(container, "securityContext/capabilities")}/add/{index}",
		"message": $"{workload.container_name(pod_set, container)} runs as user {user}, who gets no effect of IPC_LOCK, so RDMA cannot lock its buffers unless the runtime allows it, and NCCL uses TCP",
		"remedy": "run as root, or have LimitMEMLOCK of the container runtime raised",
	}
}
