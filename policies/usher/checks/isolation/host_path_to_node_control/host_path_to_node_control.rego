# METADATA
# title: Host paths do not lead to what controls a node
# description: |
#   Whoever reaches the socket of the container runtime starts any container there, with any device. Whoever writes into
#   the kubelet's directory of device plugins passes for one, and hands out the GPUs; what lies in the directories of CDI
#   says what a device is; and a manifest among the static pods runs past the API server and all admission. A read-only
#   mount does not help with sockets. Device plugins, drivers and agents of the node need such volumes; they belong into
#   system namespaces, which `priorities.systemNamespaces` of usher.yaml names. Paths are compared in their plainest
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
#   code: USH215
#   about: pods
#   severity: high
#   why: It can start any container on the node, and with it use every GPU.
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
#       description: Files and directories of nodes, and all below them; a * at the end stands for the rest of a name.
#   remediation: |
#     Remove the volume. Images are built without the runtime's socket by tools that need none; what has to manage nodes
#     belongs into a system namespace.
package usher.checks.isolation.host_path_to_node_control

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains object.union(finding, workload.assumption_of_agents) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.within_any(entry.place, _paths)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} is the host path {text.excerpt(entry.written)}, by which a pod controls its node",
		"remedy": "remove the volume",
	}
}

_paths := parameters.isolation.host_path_to_node_control.paths
