# METADATA
# title: Isolation
# description: The ways by which a pod reaches devices and files of its node that it did not ask for.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.isolation

import data.usher.lib.workload

# METADATA
# title: Whether pods of the namespace may see all devices of their nodes
# description: Drivers and node agents, and what usher.yaml names under `isolation.visibleDevices`, such as monitoring.
may_see_all_devices if input.site.systemNamespace

may_see_all_devices if input.site.visibleDevicesAllowed

# METADATA
# title: Host paths
# description: |
#   Every hostPath volume with its pod set, where it stands, and the place on the node that it leads to: without `..` and
#   doubled slashes, past /var/run, which is /run. A list, for the same reason as others.
host_paths := [entry |
	some pod_set in input.podSets
	some index, volume in pod_set.volumes
	place := volume.hostPath.place
	entry := {
		"podSet": pod_set,
		"volume": object.get(volume, "name", ""),
		"path": $"{workload.field_path(pod_set, "volumes")}/{index}/hostPath/path",
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
# title: Name of a volume, as people say it
volume_name(entry) := $"volume {entry.volume} of {entry.podSet.name}" if entry.podSet.name != ""

volume_name(entry) := $"volume {entry.volume}" if entry.podSet.name == ""

# METADATA
# title: Annotations that name devices or files of the node
# description: |
#   Of all pods, with their domain: what stands before the slash, or all of the key. A list, because nearly always it is
#   empty.
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
