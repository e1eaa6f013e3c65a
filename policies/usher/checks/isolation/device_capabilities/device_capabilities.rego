# METADATA
# title: No container gets capabilities that open devices of the node
# description: |
#   SYS_ADMIN allows a container to mount file systems and to change the cgroups that restrict its devices. SYS_RAWIO
#   allows it to read and write the memory and the ports of the node. MKNOD allows it to make device files. SYS_MODULE
#   allows it to load modules into the kernel of the node. DAC_READ_SEARCH allows it to open any file by its handle, also
#   outside of its own file systems. ALL contains all of them. This is most of what `privileged: true` gives, which
#   another check reports.
#
#   The check reads names as container runtimes do: in upper or lower case, with and without CAP_. Profilers of GPUs and
#   file systems in user space also ask for SYS_ADMIN, and some RDMA images ask for SYS_RAWIO. IPC_LOCK, NET_ADMIN and
#   SYS_PTRACE are allowed.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#set-capabilities-for-a-container
#     description: Kubernetes on capabilities
#   - ref: https://man7.org/linux/man-pages/man7/capabilities.7.html
#     description: Linux on what each capability permits
# schemas:
#   - input: schema.input
# custom:
#   code: USH207
#   about: pods
#   severity: medium
#   of_agents: true
#   strict_only: Some stacks for GPUs across nodes, for example NVSHMEM with IBGDA, need these capabilities.
#   why: The container can leave its isolation and use devices of its node.
#   closes: [B6, B20]
#   parameters:
#     capabilities:
#       default: [ALL, DAC_READ_SEARCH, MKNOD, SYS_ADMIN, SYS_MODULE, SYS_RAWIO]
#       description: Capabilities that no container may have, in upper case and without CAP_.
#   remediation: |
#     Remove the capability. RDMA needs IPC_LOCK at most. The driver can open GPU counters to all users
#     (NVreg_RestrictProfilingToAdminUsers=0). CSI drivers can mount file systems in user space.
package usher.checks.isolation.device_capabilities

import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in workload.containers
	some index, capability in entry.container.securityContext.capabilities.add
	not input.site.systemNamespace
	not entry.container.securityContext.privileged
	trim_prefix(upper(capability), "CAP_") in _capabilities

	finding := {
		"path": $"{workload.container_path(entry.container, "securityContext/capabilities")}/add/{index}",
		"message": $"{workload.container_name(entry.podSet, entry.container)} has the capability {text.excerpt(capability)}, so it can reach devices of its node that it did not ask for",
		"remedy": "remove the capability",
	}
}

_capabilities := parameters.isolation.device_capabilities.capabilities
