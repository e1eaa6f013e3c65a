# METADATA
# title: Host paths do not lead to what the kubelet keeps
# description: |
#   Below its directory the kubelet keeps the volumes of all pods of the node, with their secrets and tokens, the sockets
#   of storage and device drivers, and the socket that tells which pod has which device. That is how exporters of GPU
#   metrics name pods, and how backups read volumes; to anybody else it shows and opens what other teams have. What
#   rules devices is for another check.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#monitoring-device-plugin-resources
#     description: Kubernetes on the socket of pod resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH217
#   about: pods
#   severity: medium
#   why: It shows the secrets and the devices of every pod on the node.
#   closes: [B5]
#   parameters:
#     paths:
#       default:
#         - /var/lib/kubelet/plugins
#         - /var/lib/kubelet/pod-resources
#         - /var/lib/kubelet/pods
#       description: Directories of the kubelet, and all below them.
#   remediation: |
#     Remove the volume. What exports metrics or makes backups of nodes belongs into a system namespace, which
#     priorities.systemNamespaces of usher.yaml names.
package usher.checks.isolation.host_path_to_kubelet_state

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.within_any(entry.place, _paths)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} is the host path {text.excerpt(entry.written)}, where the kubelet keeps what belongs to other pods",
		"remedy": "remove the volume, or move node agents to a system namespace",
	}
}

_paths := parameters.isolation.host_path_to_kubelet_state.paths
