# METADATA
# title: Devices are not taken by host path
# description: |
#   A volume that is a host path to device files shows the accelerators and network cards of the node to a pod that never
#   asked for them, or for fewer. Without privileges the kernel still refuses to open what the pod was not given, and the
#   pod fails; with privileges it uses the devices of others, and nobody counts them. A device plugin or a device claim
#   gives the files and the permission together. Paths are compared in their plainest spelling, past `..`, doubled
#   slashes and /var/run. Device plugins and drivers need such volumes; they belong into system namespaces, which
#   `priorities.systemNamespaces` of usher.yaml names. /dev/shm, /dev/hugepages and other devices are free.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
#     description: Kubernetes on host paths
#   - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
#     description: Kubernetes on device plugins
# schemas:
#   - input: schema.input
# custom:
#   code: USH204
#   about: pods
#   severity: high
#   why: It reaches GPUs that were never asked for, or fails to open them.
#   closes: [B5]
#   parameters:
#     paths:
#       default:
#         - /dev/accel*
#         - /dev/char
#         - /dev/davinci*
#         - /dev/dri
#         - /dev/dxg
#         - /dev/infiniband
#         - /dev/kfd
#         - /dev/neuron*
#         - /dev/nvidia*
#         - /dev/vfio
#         - /run/nvidia
#       description: Places of devices on nodes, and all below them; a * at the end stands for the rest of a name.
#   remediation: |
#     Remove the volume, and ask for the devices in the limits of the container or by a device claim. What a pod needs of
#     the network, such as rdma/hca, is a resource as well.
package usher.checks.isolation.host_path_to_devices

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
		"message": $"{isolation.volume_name(entry)} takes devices of the node by host path, {text.excerpt(entry.written)}, past every request and quota",
		"remedy": "remove the volume, and ask for the devices in limits",
	}
}

_paths := parameters.isolation.host_path_to_devices.paths
