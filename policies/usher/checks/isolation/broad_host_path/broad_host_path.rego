# METADATA
# title: Host paths are no wider than they must be
# description: |
#   A volume of `/`, `/var` or `/run` holds the device files of the node, the sockets of its container runtime and the
#   directories of its kubelet, so it gives away what the other checks of host paths forbid one by one. A read-only mount
#   keeps files as they are, but not sockets: who may connect there depends on the user of the container. Agents that
#   watch nodes mount such directories read-only, which is warned about at most. Paths are compared in their plainest
#   spelling, past `..`, doubled slashes and /var/run.
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
#   why: It holds the devices of the node and the sockets that control it.
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
#         - /var
#         - /var/lib
#         - /var/lib/kubelet
#         - /var/lib/rancher
#         - /var/lib/rancher/k3s
#         - /var/lib/rancher/rke2
#       description: Directories of nodes that no pod may mount as a whole; what lies below them is for other checks.
#   remediation: |
#     Name the one directory that the pod needs. What has to see a whole node belongs into a system namespace, which
#     priorities.systemNamespaces of usher.yaml names.
package usher.checks.isolation.broad_host_path

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains object.union_n([finding, workload.assumption_of_agents, _assumption(mounts)]) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	entry.place in _directories
	mounts := [mount |
		some container in entry.podSet.containers
		some mount in container.volumeMounts
		mount.name == entry.volume
	]
	mounts != []

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} is all of {text.excerpt(entry.written)} on the node, with what controls the node and its devices",
		"remedy": "mount the one directory below it that is needed",
	}
}

_directories := parameters.isolation.broad_host_path.directories

_assumption(mounts) := {} if _writable(mounts)

_assumption(mounts) := {"assumption": "its user can use the devices and sockets in there"} if not _writable(mounts)

_writable(mounts) if {
	some mount in mounts
	not mount.readOnly
}
