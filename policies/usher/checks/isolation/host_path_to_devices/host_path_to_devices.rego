# METADATA
# title: Pods do not take devices by host path
# description: |
#   A host path to device files shows the accelerators and network cards of the node to a pod that did not ask for them,
#   or asked for fewer. Without privileges, the kernel refuses to open these devices and the pod fails. With privileges,
#   the pod uses devices of other pods and no quota counts them. A device plugin or a device claim gives the files and
#   the permission together. Before the check compares paths, it resolves `..`, doubled slashes and /var/run.
#
#   Two paths reach devices without their files. A pod that writes to /sys/bus/pci as root removes or resets the cards
#   of other pods. /tmp/nvidia-mps holds the pipes of the MPS daemon, through which a pod computes on the GPU of others.
#
#   Device plugins and drivers need these volumes. Run them in a system namespace that usher.yaml names under
#   `priorities.systemNamespaces`. /dev/hugepages and other devices are allowed. Another check reports /dev/shm.
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
#   kinds: [persistentVolume]
#   severity: high
#   of_agents: true
#   why: The pod reaches GPUs that it did not ask for, or fails to open them.
#   closes: [B5]
#   parameters:
#     paths:
#       default:
#         - /dev/accel*
#         - /dev/alixpu*
#         - /dev/apex_*
#         - /dev/biren*
#         - /dev/block
#         - /dev/cambr*
#         - /dev/char
#         - /dev/davinci*
#         - /dev/devmm_svm
#         - /dev/disk
#         - /dev/dm-*
#         - /dev/dri
#         - /dev/dxg
#         - /dev/gcu*
#         - /dev/gdrdrv
#         - /dev/hisi_hdc
#         - /dev/iluvatar*
#         - /dev/infiniband
#         - /dev/kfd
#         - /dev/kmem
#         - /dev/loop*
#         - /dev/mapper
#         - /dev/md*
#         - /dev/mem
#         - /dev/mkfd
#         - /dev/mtgpu*
#         - /dev/mxcd
#         - /dev/mxgd
#         - /dev/mxnd
#         - /dev/neuron*
#         - /dev/nvidia*
#         - /dev/nvme*
#         - /dev/port
#         - /dev/rbln*
#         - /dev/rsd*
#         - /dev/sd*
#         - /dev/uio*
#         - /dev/vd*
#         - /dev/vfio
#         - /dev/xpu*
#         - /dev/xvd*
#         - /run/habana
#         - /run/nvidia*
#         - /run/rbln
#         - /sys/bus/pci
#         - /sys/devices/pci*
#         - /tmp/nvidia-mps
#       description: Paths of devices on nodes, and everything below them. A * at the end matches the rest of a name.
#   remediation: |
#     Remove the volume, and ask for the devices in the limits of the container or by a device claim. Network devices
#     like rdma/hca are resources too.
package usher.checks.isolation.host_path_to_devices

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains object.union(finding, isolation.assumption_of_volume(entry)) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.leads_to(entry, _paths)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, {_effect(entry.place)}",
		"remedy": _remedy(entry.place),
	}
}

_effect(place) := "whose files tell the GPU operator that the driver of the node is ready" if _of_the_operator(place)

else := "whose pipes lead to the GPUs of other pods" if _of_mps(place)

else := "through which a pod can remove or reset the devices of others" if _of_the_bus(place)

else := "which shows devices of the node that no request and no quota counts"

_remedy(place) := "remove the volume; only node agents that wait for the GPU operator need it" if _of_the_operator(place)

else := "move this agent of nodes to a system namespace, or remove the volume" if _is_agent

else := "remove the volume, and ask for the devices in limits"

_is_agent if input.workload.kind == "DaemonSet"

_of_the_operator(place) if isolation.within_any(place, ["/run/nvidia/validations"])

_of_mps(place) if isolation.within_any(place, ["/tmp/nvidia-mps"])

_of_the_bus(place) if isolation.within_any(place, ["/sys/bus/pci"])

_paths := parameters.isolation.host_path_to_devices.paths
