# METADATA
# title: Isolation
# description: Ways by which a pod reaches devices and files of its node without asking for them.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.isolation

import data.usher.lib.parameters
import data.usher.lib.priority
import data.usher.lib.workload

# METADATA
# title: Whether pods of the namespace may see all devices of their nodes
# description: |
#   True for drivers and node agents, and for the namespaces that usher.yaml lists under `isolation.visibleDevices`, for
#   example monitoring.
may_see_all_devices if input.site.systemNamespace

may_see_all_devices if input.site.visibleDevicesAllowed

# METADATA
# title: Variables by which a container runtime gives devices or files of the node
# description: |
#   The runtimes, hooks and plugins of vendors read them; docs/domain/accelerators.md#variables-of-container-runtimes has
#   the sources. Variables that only hide devices from a program are not among them. A list, because messages keep its
#   order.
device_variables := [
	"AMD_VISIBLE_DEVICES",
	"ASCEND_ALLOW_LINK",
	"ASCEND_RUNTIME_MOUNTS",
	"ASCEND_RUNTIME_OPTIONS",
	"ASCEND_VISIBLE_DEVICES",
	"ASCEND_VNPU_SPECS",
	"AWS_NEURON_VISIBLE_DEVICES",
	"BIREN_VISIBLE_DEVICES",
	"CAMBRICON_VISIBLE_DEVICES",
	"CXPU_VISIBLE_DEVICES",
	"ENFLAME_VISIBLE_DEVICES",
	"HABANA_VISIBLE_DEVICES",
	"HCU_MOFED",
	"HCU_VISIBLE_DEVICES",
	"HYGON_VISIBLE_DEVICES",
	"ILUVATAR_COREX_VISIBLE_DEVICES",
	"IX_VISIBLE_DEVICES",
	"MIG_VISIBLE_DEVICES",
	"MTHREADS_VISIBLE_DEVICES",
	"NVIDIA_GDRCOPY",
	"NVIDIA_GDS",
	"NVIDIA_IMEX_CHANNELS",
	"NVIDIA_MOFED",
	"NVIDIA_NVSWITCH",
	"NVIDIA_VISIBLE_DEVICES",
	"VHCU_VISIBLE_DEVICES",
]

# METADATA
# title: Beginnings of names that a container runtime reads in the same way
# description: |
#   AMD's and Hygon's runtimes read every variable that begins with DOCKER_RESOURCE_, and Habana's every one that begins
#   like its own.
device_variable_prefixes := ["DOCKER_RESOURCE_", "HABANA_VISIBLE_DEVICES"]

# METADATA
# title: Whether a container runtime gives devices by a variable
gives_devices(name) if name in device_variables

gives_devices(name) if {
	some prefix in device_variable_prefixes
	startswith(name, prefix)
}

# METADATA
# title: Whether a variable is named like those of container runtimes
# description: |
#   The runtime of a vendor that usher does not know may read it. Variables that programs read to hide devices from
#   themselves are named alike, so usher lists these.
may_give_devices(name) if {
	endswith(name, "_VISIBLE_DEVICES")
	not gives_devices(name)
	not name in _hiding_variables
}

_hiding_variables := [
	"ASCEND_RT_VISIBLE_DEVICES",
	"CUDA_VISIBLE_DEVICES",
	"GCU_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"MACA_VISIBLE_DEVICES",
	"MLU_VISIBLE_DEVICES",
	"MUSA_VISIBLE_DEVICES",
	"NPU_VISIBLE_DEVICES",
	"PPU_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"SUPA_VISIBLE_DEVICES",
	"TOPS_VISIBLE_DEVICES",
	"TPU_VISIBLE_DEVICES",
	"XPU_VISIBLE_DEVICES",
]

# METADATA
# title: Variables that switch something on
# description: The runtime reads only the value `enabled`.
switches := ["HCU_MOFED", "NVIDIA_GDRCOPY", "NVIDIA_GDS", "NVIDIA_MOFED", "NVIDIA_NVSWITCH"]

# METADATA
# title: Variables that open drivers and files for the devices that a container has
# description: In a container with accelerators they give no devices of others.
variables_for_own_devices := ["ASCEND_ALLOW_LINK", "ASCEND_RUNTIME_MOUNTS", "NVIDIA_GDRCOPY", "NVIDIA_GDS"]

# METADATA
# title: Values of these variables that name no device
values_without_devices := ["", "none", "void"]

# METADATA
# title: Whether a value of a variable gives no device
gives_nothing(_, value) if value in values_without_devices

gives_nothing(name, value) if {
	name in switches
	value != "enabled"
}

# The runtime leaves out files of the driver.
gives_nothing("ASCEND_RUNTIME_OPTIONS", "NODRV")

# METADATA
# title: Host paths
# description: |
#   Every path of a node to which a volume of a pod leads, with its pod set, its path in the manifest and the place on
#   the node. The place has no `..`, no doubled slashes, and /run instead of /var/run; the general one has PID and USER
#   in place of one process or user. Claims lead to the path of their PersistentVolume, where files show it. A
#   PersistentVolume has no pods; `driver` is empty without a driver. A list, as in lib/workload.
host_paths := array.concat(_paths_of_pods, _paths_of_volumes)

_paths_of_pods := [entry |
	some pod_set in input.podSets
	some index, volume in pod_set.volumes
	some field, host_path in _ways(volume)
	entry := {
		"podSet": pod_set,
		"volume": object.get(volume, "name", ""),
		"path": $"{workload.volume_path(pod_set, index)}/{field}",
		"written": host_path.path,
		"place": host_path.place,
		"general": object.get(host_path, "general", host_path.place),
	}
]

_ways(volume) := {"hostPath/path": volume.hostPath}

_ways(volume) := {"persistentVolumeClaim/claimName": input.beside.hostPaths[volume.persistentVolumeClaim.claimName]}

# Administrators and the controllers of a cluster decide which places of a node are for volumes.
_paths_of_volumes := [entry |
	not priority.asked_by_administration
	some way in _ways_of_volume
	host_path := way.hostPath
	entry := {
		"podSet": {"name": "", "path": "", "spec": input.object.persistentVolume.spec},
		"volume": "",
		"path": way.path,
		"written": host_path.path,
		"place": host_path.place,
		"general": object.get(host_path, "general", host_path.place),
		"driver": way.driver,
	}
]

_ways_of_volume contains {"path": $"/spec/{source}/path", "hostPath": host_path, "driver": ""} if {
	some source in ["hostPath", "local"]
	host_path := input.object.persistentVolume.spec[source]
}

_ways_of_volume contains {
	"path": $"/spec/{source}/{options}/{replace(replace(key, "~", "~0"), "/", "~1")}",
	"hostPath": host_path,
	"driver": object.get(volume, "driver", "without a name"),
} if {
	some source, options in {"csi": "volumeAttributes", "flexVolume": "options"}
	volume := input.object.persistentVolume.spec[source]
	some key, host_path in volume[options]
}

# METADATA
# title: Whether the object is a PersistentVolume with this path
of_persistent_volume(entry) if is_string(entry.driver)

# METADATA
# title: Whether a driver of volumes gets this path as an option
by_driver(entry) if object.get(entry, "driver", "") != ""

# METADATA
# title: Assumption about a path of a PersistentVolume, as a part of a finding
# description: |
#   A driver may mean a path of its server. Administrators give disks without a file system to volumes, and files do not
#   say who applies them.
assumption_of_volume(entry) := {"assumption": $"usher assumes that the driver {entry.driver} means a path of the node"} if {
	by_driver(entry)
} else := {"assumption": "usher assumes that no administrator keeps this disk for volumes"} if {
	entry.path == "/spec/local/path"
	entry.podSet.spec.volumeMode == "Block"
	not input.review
} else := {}

# METADATA
# title: Whether a host path leads to one of these paths, or below one
# description: A path may name PID or USER in place of one process or user.
leads_to(entry, paths) if within_any(entry.place, paths)

leads_to(entry, paths) if {
	entry.general != entry.place
	within_any(entry.general, paths)
}

# METADATA
# title: Whether a place is one of these paths, or below one
# description: A path that ends in `*` is a prefix of names.
within_any(place, paths) if {
	some path in paths
	startswith(place, path)
	_ends_a_name(substring(place, count(path), 1))
}

within_any(place, paths) if {
	some path in paths
	endswith(path, "*")
	startswith(place, trim_suffix(path, "*"))
}

_ends_a_name(next) if next in ["", "/"]

# METADATA
# title: Whether a host path leads to sockets or secrets of the node
controls_when_read(entry) if {
	leads_to(entry, parameters.isolation.host_path_to_node_control.paths)
	not leads_to(entry, _models)
}

# Hidden folders of users that hold downloaded models alone.
_models := {path |
	some home in ["/root", "/home/USER"]
	some folder in [".cache/huggingface", ".cache/modelscope", ".ollama/models"]
	path := $"{home}/{folder}"
}

# METADATA
# title: Whether a host path leads to programs or settings of the node
# description: A pod that writes there controls the node.
controls_when_written(entry) if {
	leads_to(entry, parameters.isolation.host_path_to_node_control.writtenPaths)
	not within_any(entry.place, _of_no_program)
}

# Names and times of a node, and the list of its network addresses in Huawei's driver: no program of the node runs by them.
_of_no_program := {
	"/etc/ascend_install.info", "/etc/hccn.conf", "/etc/hostname", "/etc/localtime", "/etc/os-release", "/etc/timezone",
	"/usr/lib/os-release", "/usr/share/zoneinfo",
}

# METADATA
# title: Whether a host path is a volume in the recipe of a fabric that the pod fits
# description: The webhook adds these volumes itself, because usher.yaml declares them.
of_fabric_recipe(entry) if {
	some fit in entry.podSet.fits
	some volume in input.fabrics[fit.fabric].recipe.volumes
	volume.hostPath.path == entry.written
}

# METADATA
# title: Whether a container mounts a host path
# description: The pods of a PersistentVolume are not known, so any may.
is_mounted(entry) if _mounted[[entry.podSet.path, entry.volume]]

is_mounted(entry) if of_persistent_volume(entry)

# METADATA
# title: Whether all mounts of a host path are read-only
# description: False if no container mounts it.
only_read(entry) if {
	_mounted[[entry.podSet.path, entry.volume]]
	not _written[[entry.podSet.path, entry.volume]]
}

# Sets, so that a pod with many volumes and mounts costs no more than their sum.
_mounted contains [pod_set.path, mount.name] if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some mount in container.volumeMounts
}

_written contains [pod_set.path, mount.name] if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some mount in container.volumeMounts
	not mount.readOnly
}

# METADATA
# title: Name of a volume in a message
volume_name(entry) := $"volume {entry.volume} of {entry.podSet.name}" if entry.podSet.name != ""

volume_name(entry) := $"volume {entry.volume}" if {
	entry.podSet.name == ""
	not of_persistent_volume(entry)
}

volume_name(entry) := "this PersistentVolume" if of_persistent_volume(entry)

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

_device_domains := [
	"cdi-devices.noderesource.dev",
	"cdi-devices.nri.io",
	"cdi.nri.io",
	"cdi.k8s.io",
	"devices.crio.io",
	"devices.gke.io",
	"devices.noderesource.dev",
	"devices.nri.io",
	"io.kubernetes.cri-o.Devices",
	"mounts.noderesource.dev",
	"mounts.nri.io",
	"netdevices.nri.io",
	"nvidia.cdi.k8s.io",
]
