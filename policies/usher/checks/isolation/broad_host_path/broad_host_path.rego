# METADATA
# title: Host paths mount no more of the node than the pod needs
# description: |
#   A volume of `/`, `/var` or `/run` contains the device files of the node, the sockets of its container runtime and
#   the directories of its kubelet. So it gives the pod everything that the other checks of host paths forbid. A
#   read-only mount protects files, but not sockets and secrets. The user that the container runs as decides whether it
#   can use them. Agents that watch nodes mount these directories read-only, so a read-only mount causes a warning at
#   most. /sys, /usr and some others hold no sockets and no secrets, so a read-only mount of them is allowed. Helpers of
#   GPUDirect find the cards of their node in /sys and set up their network in /proc/sys, so in pods with accelerators
#   these cause a warning at most. If only the daemon of GPUDirect mounts them, with the annotation by which GKE gives it
#   its devices and without privileges, they are a note: the recipe of Google is written so. Before the check compares paths, it resolves `..`, doubled slashes, and links that
#   every node has, for example /var/run.
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
#   kinds: [persistentVolume]
#   severity: high
#   of_agents: true
#   why: The path contains the devices of the node and the sockets that control it.
#   closes: [B5, B17]
#   parameters:
#     directories:
#       default:
#         - /
#         - /dev
#         - /etc
#         - /home
#         - /home/USER
#         - /home/kubernetes
#         - /home/kubernetes/bin
#         - /opt
#         - /proc
#         - /proc/sys
#         - /root
#         - /run
#         - /sys
#         - /sys/bus
#         - /sys/devices
#         - /sys/fs
#         - /tmp
#         - /usr
#         - /var
#         - /var/lib
#         - /var/lib/kubelet
#         - /var/lib/rancher
#         - /var/lib/rancher/k3s
#         - /var/lib/rancher/rke2
#         - /var/log
#         - /var/snap
#         - /var/snap/microk8s
#         - /var/snap/microk8s/common
#         - /var/spool
#       description: |
#         Directories of nodes that no pod may mount as a whole. Other checks look at what lies below them. USER stands
#         for a name in /home.
#     readOnlyDirectories:
#       default:
#         - /home/kubernetes
#         - /home/kubernetes/bin
#         - /opt
#         - /proc/sys
#         - /sys
#         - /sys/bus
#         - /sys/devices
#         - /sys/fs
#         - /usr
#         - /var/spool
#       description: Those of them that a pod may mount read-only.
#   remediation: |
#     Mount only the directory that the pod needs. If the pod must see the whole node, move it to a system namespace
#     that usher.yaml names under priorities.systemNamespaces.
package usher.checks.isolation.broad_host_path

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains object.union(finding, _assumption(entry)) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	not isolation.by_driver(entry)
	_is_broad(entry)
	isolation.is_mounted(entry)
	not _reads(entry)
	not isolation.of_fabric_recipe(entry)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts all of {text.excerpt(entry.written)} from the node, including files and sockets that control the node and its devices",
		"remedy": _remedy(entry),
	}
}

_is_broad(entry) if entry.place in parameters.isolation.broad_host_path.directories

_is_broad(entry) if entry.general in parameters.isolation.broad_host_path.directories

_reads(entry) if {
	_may_be_read(entry)
	isolation.only_read(entry)
}

_may_be_read(entry) if {
	entry.place in parameters.isolation.broad_host_path.readOnlyDirectories
	not isolation.of_persistent_volume(entry)
}

_remedy(entry) := "mount it read-only" if _may_be_read(entry)

_remedy(entry) := "mount only the directory below it that the pod needs" if not _may_be_read(entry)

_assumption(entry) := {"assumption": "usher assumes that the user that the container runs as can use the devices and sockets in this directory"} if {
	isolation.only_read(entry)
} else := {"assumption": assumption} if {
	entry.podSet.asksAccelerators
	some directory, assumption in _uses_of_recipes
	isolation.within_any(entry.place, [directory])
	not _only_for_daemon(entry)
} else := {"assumption": assumption, "noted": true} if {
	entry.podSet.asksAccelerators
	some directory, assumption in _uses_of_recipes
	isolation.within_any(entry.place, [directory])
} else := {"assumption": "usher assumes that a user of the node has keys or settings in this directory"} if {
	entry.general == "/home/USER"
} else := {"assumption": "usher assumes that an MPS daemon of the node keeps its pipes in /tmp"} if {
	entry.place == "/tmp"
} else := {}

_only_for_daemon(entry) if {
	every container in [each |
		some each in entry.podSet.containers
		some mount in each.volumeMounts
		mount.name == entry.volume
	] {
		_is_daemon(entry.podSet, container)
	}
}

# GKE gives the daemon its devices by an annotation that names the container, so it needs no privileges.
_is_daemon(pod_set, container) if {
	container.name in ["tcpx-daemon", "tcpxo-daemon"]
	pod_set.annotations[$"devices.gke.io/container.{container.name}"]
	not container.securityContext.privileged
}

_uses_of_recipes := {
	"/sys": "usher assumes that the pod does more than read in /sys which cards the node has",
	"/proc/sys": "usher assumes that the pod does more than set up its network, as recipes of GPUDirect do",
}
