# METADATA
# title: Host paths mount no more of the node than the pod needs
# description: |
#   A volume of `/`, `/var` or `/run` contains the device files of the node, the sockets of its container runtime and
#   the directories of its kubelet. So it gives the pod everything that the other checks of host paths forbid. A
#   read-only mount protects files, but not sockets. The user that the container runs as decides whether it can connect
#   to a socket. Agents that watch nodes mount these directories read-only, so a read-only mount causes a warning at
#   most. /sys holds no sockets, so a read-only mount of it is allowed, and so is one in a DaemonSet as long as usher.yaml
#   does not name the system namespaces. Helpers of GPUDirect find the cards of their node there, so in pods with
#   accelerators /sys causes a warning at most. Before the check compares paths, it resolves `..`, doubled slashes and /var/run.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
#     description: Kubernetes on host paths
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH216
#   about: pods
#   severity: high
#   why: The path contains the devices of the node and the sockets that control it.
#   closes: [B5, B17]
#   parameters:
#     directories:
#       default:
#         - /
#         - /dev
#         - /etc
#         - /etc/kubernetes
#         - /proc
#         - /run
#         - /sys
#         - /var
#         - /var/lib
#         - /var/lib/kubelet
#         - /var/lib/rancher
#         - /var/lib/rancher/k3s
#         - /var/lib/rancher/rke2
#       description: Directories of nodes that no pod may mount as a whole. Other checks look at what lies below them.
#   remediation: |
#     Mount only the directory that the pod needs. If the pod must see the whole node, move it to a system namespace
#     that usher.yaml names under priorities.systemNamespaces.
package usher.checks.isolation.broad_host_path

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains object.union(finding, _assumption(entry, mounts)) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	entry.place in _directories
	mounts := [mount |
		some container in entry.podSet.containers
		some mount in container.volumeMounts
		mount.name == entry.volume
	]
	mounts != []
	not _reads_sys(entry, mounts)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts all of {text.excerpt(entry.written)} from the node, including files and sockets that control the node and its devices",
		"remedy": _remedy(entry),
	}
}

_remedy(entry) := "mount it read-only" if entry.place == "/sys"

_remedy(entry) := "mount only the directory below it that the pod needs" if entry.place != "/sys"

_directories := parameters.isolation.broad_host_path.directories

_assumption(entry, mounts) := {"assumption": "usher assumes that the user that the container runs as can use the devices and sockets in this directory"} if {
	not _writable(mounts)
} else := {"assumption": "usher assumes that the pod does more than read in /sys which cards the node has"} if {
	entry.place == "/sys"
	entry.podSet.asksAccelerators
} else := {}

_reads_sys(entry, mounts) if {
	entry.place == "/sys"
	not _writable(mounts)
}

_reads_sys(entry, _) if {
	entry.place == "/sys"
	workload.assumption_of_agents.assumption
}

_writable(mounts) if {
	some mount in mounts
	not mount.readOnly
}
