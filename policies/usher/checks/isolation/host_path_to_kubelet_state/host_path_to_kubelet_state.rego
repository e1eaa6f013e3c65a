# METADATA
# title: Host paths do not lead to the pod data of the kubelet
# description: |
#   Below its directory the kubelet keeps the volumes of all pods of the node, with their secrets and tokens. The
#   sockets of storage drivers and device drivers are there too, and the socket that tells which pod has which device.
#   The logs of all pods are in /var/log. Exporters of GPU metrics use that socket to name pods, backup tools read the
#   volumes, and collectors read the logs. For all other pods, the path opens data of other teams. Another check reports
#   paths that control devices.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#monitoring-device-plugin-resources
#     description: Kubernetes on the socket of pod resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH217
#   about: pods
#   kinds: [persistentVolume]
#   severity: medium
#   of_agents: true
#   why: The path shows the secrets and the devices of every pod on the node.
#   closes: [B5]
#   parameters:
#     paths:
#       default:
#         - /var/lib/kubelet/plugins
#         - /var/lib/kubelet/pod-resources
#         - /var/lib/kubelet/pods
#         - /var/log/containers
#         - /var/log/pods
#       description: Directories that the kubelet keeps for pods, and everything below them.
#   remediation: |
#     Remove the volume. Move pods that export metrics or back up nodes to a system namespace that usher.yaml names
#     under priorities.systemNamespaces.
package usher.checks.isolation.host_path_to_kubelet_state

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains object.union(finding, isolation.assumption_of_volume(entry)) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.leads_to(entry, _paths)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, where the kubelet keeps data of other pods",
		"remedy": "remove the volume; if the pod is a node agent, move it to a system namespace",
	}
}

_paths := parameters.isolation.host_path_to_kubelet_state.paths
