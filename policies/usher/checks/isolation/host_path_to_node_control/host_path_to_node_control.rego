# METADATA
# title: Host paths do not lead to files or sockets that control the node
# description: |
#   A pod that reaches the socket of the container runtime can start any container on the node, with any device. A pod
#   that writes into the kubelet's directory of device plugins can pose as a device plugin and hand out the GPUs. The
#   CDI directories define the devices. A manifest in the directory of static pods runs without the API server and
#   without admission. A read-only mount does not protect sockets. Before the check compares paths, it resolves `..`,
#   doubled slashes and /var/run.
#
#   Device plugins, drivers and node agents need these volumes. Run them in a system namespace that usher.yaml names
#   under `priorities.systemNamespaces`.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
#     description: Kubernetes on host paths
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH215
#   about: pods
#   severity: high
#   why: The pod can start any container on the node, and through it use every GPU.
#   closes: [B5, B17]
#   parameters:
#     paths:
#       default:
#         - /etc/cdi
#         - /etc/kubernetes/manifests
#         - /run/cdi
#         - /run/containerd
#         - /run/cri-dockerd.sock
#         - /run/crio
#         - /run/docker
#         - /run/docker.sock
#         - /run/dockershim.sock
#         - /run/k3s
#         - /run/nri
#         - /run/podman
#         - /var/lib/kubelet/device-plugins
#         - /var/lib/kubelet/pki
#         - /var/lib/kubelet/plugins_registry
#         - /var/lib/rancher/k3s/agent
#         - /var/lib/rancher/k3s/server
#         - /var/lib/rancher/rke2/agent
#         - /var/lib/rancher/rke2/server
#       description: |
#         Files and directories of nodes, and everything below them. A * at the end matches the rest of a name.
#   remediation: |
#     Remove the volume. To build images, use a tool that does not need the socket of the runtime. Move pods that manage
#     nodes to a system namespace.
package usher.checks.isolation.host_path_to_node_control

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.within_any(entry.place, _paths)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, through which the pod can control its node",
		"remedy": "remove the volume",
	}
}

_paths := parameters.isolation.host_path_to_node_control.paths
