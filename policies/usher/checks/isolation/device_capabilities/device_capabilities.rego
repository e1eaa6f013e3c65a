# METADATA
# title: No container is given capabilities that open devices
# description: |
#   SYS_ADMIN mounts file systems and changes the cgroups that hold a container to its devices, SYS_RAWIO reads and writes
#   the memory and the ports of the node, and MKNOD makes device files; ALL holds all of them. That is most of what
#   `privileged: true` gives, which another check tells. Names are read as container runtimes read them: in any case, with
#   and without CAP_. Profilers of GPUs and file systems in user space ask for SYS_ADMIN too, and some images for RDMA for
#   SYS_RAWIO; IPC_LOCK, NET_ADMIN and SYS_PTRACE are free.
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
#   why: It can leave its container and use devices of its node.
#   closes: [B6, B20]
#   parameters:
#     capabilities:
#       default: [ALL, MKNOD, SYS_ADMIN, SYS_RAWIO]
#       description: Capabilities that no container is given, in upper case and without CAP_.
#   remediation: |
#     Remove the capability. RDMA needs IPC_LOCK at most; GPU counters can be opened to all users by the driver
#     (NVreg_RestrictProfilingToAdminUsers=0); file systems in user space work by CSI drivers.
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
		"path": $"{entry.container.path}/securityContext/capabilities/add/{index}",
		"message": $"{workload.container_name(entry.podSet, entry.container)} is given {text.excerpt(capability)}, with which it can get at devices of its node that it did not ask for",
		"remedy": "remove the capability",
	}
}

_capabilities := parameters.isolation.device_capabilities.capabilities
