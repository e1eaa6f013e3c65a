# METADATA
# title: Isolation
# description: Ways by which a pod reaches devices and files of its node without asking for them.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.isolation

import data.usher.lib.workload

# METADATA
# title: Whether pods of the namespace may see all devices of their nodes
# description: |
#   True for drivers and node agents, and for the namespaces that usher.yaml lists under `isolation.visibleDevices`, for
#   example monitoring.
may_see_all_devices if input.site.systemNamespace

may_see_all_devices if input.site.visibleDevicesAllowed

# METADATA
# title: Variables that name devices for a container runtime
# description: |
#   The runtime gives the container what they name. Variables that only hide devices from a program, for example
#   CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES, are not among them. A list, because messages keep its order.
device_variables := [
	"AMD_VISIBLE_DEVICES",
	"AWS_NEURON_VISIBLE_DEVICES",
	"HABANA_VISIBLE_DEVICES",
	"NVIDIA_IMEX_CHANNELS",
	"NVIDIA_VISIBLE_DEVICES",
]

# METADATA
# title: Values of these variables that name no device
values_without_devices := {"", "none", "void"}

# METADATA
# title: Host paths
# description: |
#   Every hostPath volume with its pod set, its path in the manifest and the place on the node that it leads to. The
#   place has no `..`, no doubled slashes, and /run instead of /var/run. A list, as in lib/workload.
host_paths := [entry |
	some pod_set in input.podSets
	some index, volume in pod_set.volumes
	place := volume.hostPath.place
	entry := {
		"podSet": pod_set,
		"volume": object.get(volume, "name", ""),
		"path": $"{workload.volume_path(pod_set, index)}/hostPath/path",
		"written": volume.hostPath.path,
		"place": place,
	}
]

# METADATA
# title: Whether a place is one of these paths, or below one
# description: A path that ends in `*` is a prefix of names.
within_any(place, paths) if {
	some path in paths
	_within(place, path)
}

_within(place, path) if place == path

_within(place, path) if startswith(place, $"{path}/")

_within(place, path) if {
	endswith(path, "*")
	startswith(place, trim_suffix(path, "*"))
}

# METADATA
# title: Name of a volume in a message
volume_name(entry) := $"volume {entry.volume} of {entry.podSet.name}" if entry.podSet.name != ""

volume_name(entry) := $"volume {entry.volume}" if entry.podSet.name == ""

# METADATA
# title: Annotations that name devices or files of the node
# description: |
#   The annotations of all pods with their domain: the text before the slash, or the whole key. A list, because it is
#   nearly always empty.
device_annotations := [entry |
	some pod_set in input.podSets
	some key, value in pod_set.annotations
	domain := split(key, "/")[0]
	domain in _device_domains
	entry := {
		"podSet": pod_set,
		"domain": domain,
		"key": key,
		"value": value,
		"path": $"{pod_set.metadataPath}/annotations/{replace(replace(key, "~", "~0"), "/", "~1")}",
	}
]

_device_domains := {
	"cdi-devices.noderesource.dev",
	"cdi-devices.nri.io",
	"cdi.k8s.io",
	"devices.gke.io",
	"devices.noderesource.dev",
	"devices.nri.io",
	"mounts.noderesource.dev",
	"mounts.nri.io",
	"nvidia.cdi.k8s.io",
}
