# METADATA
# title: The fabric
# description: Settings of containers for NCCL and for the network between nodes.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.fabric

import data.usher.lib.amounts
import data.usher.lib.cooperation
import data.usher.lib.placement
import data.usher.lib.pools
import data.usher.lib.workload

# METADATA
# title: Containers of accelerator pods
# description: |
#   With their pod set. Includes containers that ask for no accelerators themselves. A list, as in lib/workload.
containers := [entry |
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: Containers whose environment the ranks see
# description: Excludes containers whose ranks sshd starts, because sshd does not pass the environment on.
rank_containers := [entry |
	some entry in containers
	entry.podSet.ranksInheritEnvironment
]

# METADATA
# title: Whether a volume is mounted at a path or above it
mounted(container, path) if {
	some mount in container.volumeMounts
	mount.mountPath == path
} else if {
	some mount in container.volumeMounts
	startswith($"{path}/", $"{trim_right(mount.mountPath, "/")}/")
}

# METADATA
# title: Whether another volume is mounted at a path or above it
mounted_by_others(container, path, volume) if {
	some mount in container.volumeMounts
	object.get(mount, "name", "") != volume
	startswith($"{path}/", $"{trim_right(mount.mountPath, "/")}/")
}

# METADATA
# title: Whether the object sets the mounts of its containers
# description: False for a TrainJob, because its runtime sets the mounts.
mounts_known if not input.object.trainJob

# METADATA
# title: Devices other than accelerators
# description: |
#   Other resources that Kubernetes gives to one container alone, in containers of accelerator pods. Examples are
#   network cards and huge pages.
devices := [device |
	some entry in containers
	some name, resource in entry.container.resources
	_undivided(name)
	device := {"podSet": entry.podSet, "container": entry.container, "name": name, "resource": resource}
]

_undivided(name) if {
	contains(name, "/")
	not contains(name, "kubernetes.io/")
}

_undivided(name) if startswith(name, "hugepages-")

# METADATA
# title: Path of a device in the resources of a container
device_path(device, list) := path if {
	path := device.resource.places[list]
} else := $"{device.container.path}/resources/{list}/{replace(device.name, "/", "~1")}"

# METADATA
# title: An amount of a device in a message
# description: Huge pages are shown in bytes.
shown(device, amount) := amounts.bytes(amount.value) if startswith(device.name, "hugepages-")

shown(device, amount) := amount.text if not startswith(device.name, "hugepages-")

# METADATA
# title: Whether the pods may get a network device for RDMA
# description: |
#   True for any device other than accelerators, device claims, networks of Multus and of GKE, and the network of the node.
has_network_device(pod_set) if pod_set.hostNetwork

has_network_device(pod_set) if pod_set.deviceClaims > 0

has_network_device(pod_set) if {
	some key in ["k8s.v1.cni.cncf.io/networks", "networking.gke.io/interfaces"]
	pod_set.annotations[key]
}

has_network_device(pod_set) if {
	some container in pod_set.containers
	some name, _ in container.resources
	contains(name, "/")
}

# METADATA
# title: Whether a value names the interface of pods, for pods on the network of their node
# description: The container runtime calls the interface of every pod eth0; interfaces of nodes often have other names.
names_interface_of_pods(pod_set, value) if {
	pod_set.hostNetwork
	"eth0" in split(trim_prefix(value, "="), ",")
}

# METADATA
# title: Whether the pods get a device for RDMA, or may get one in a way that usher does not read
has_network_device_of_its_own(pod_set) if pod_set.hostNetwork

has_network_device_of_its_own(pod_set) if pod_set.deviceClaims > 0

has_network_device_of_its_own(pod_set) if {
	some key in ["k8s.v1.cni.cncf.io/networks", "networking.gke.io/interfaces"]
	pod_set.annotations[key]
}

has_network_device_of_its_own(pod_set) if count(network_devices(pod_set)) > 0

# METADATA
# title: Devices for RDMA that the pods ask for, by name
network_devices(pod_set) := {name |
	some container in pod_set.containers
	some name, _ in container.resources
	_is_network_device(name)
}

_is_network_device("vpc.amazonaws.com/efa")

_is_network_device(name) if startswith(name, "rdma/")

# METADATA
# title: Whether the pods share their GPUs with other pods
# description: These pods get no network device of their own.
shares_gpus(pod_set) if {
	some request in pod_set.requests
	request.route in ["share", "fraction annotation"]
}

# METADATA
# title: Pods that train and have no network device, with or without their fabric
# description: With one of them NCCL has no fast network that all pods share, so devices for the others are lost.
without_network_device := [workload.pod_set_name(pod_set) |
	some pod_set in workload.accelerator_pod_sets
	_trains(pod_set)
	not has_network_device_of_its_own(pod_set)
	not _gets_network_device(pod_set)
]

_gets_network_device(pod_set) if {
	count(input.fabrics[_fabric_of(pod_set)].resources) > 0
	not shares_gpus(pod_set)
}

# METADATA
# title: GPUs of a container
# description: The sum over the given resources, from the limits, or from the requests if there is no limit.
gpus(container, resources) := sum([amount.value |
	some name, resource in container.accelerators
	name in resources
	amount := object.get(resource, "limits", object.get(resource, "requests", {"value": 0}))
])

# METADATA
# title: Why usher does not add shared memory to a pod set
# description: Undefined if each container has only the 64 MiB that it starts with, unless it mounts more.
why_shared_memory(_) := "the runtime of a TrainJob sets its mounts" if not mounts_known

why_shared_memory(pod_set) := "its pods use the shared memory of their node" if {
	mounts_known
	pod_set.hostIPC
}

why_shared_memory(pod_set) := "KubeRay mounts shared memory itself" if {
	mounts_known
	not pod_set.hostIPC
	"RAY_*" in pod_set.operatorEnvironment
}

# METADATA
# title: Whether a container has only the 64 MiB of shared memory that every container starts with
lacks_shared_memory(pod_set, container) if {
	container.type == "container"
	not why_shared_memory(pod_set)
	not mounted(container, "/dev/shm")
}

# METADATA
# title: Containers that train on a fabric
# description: |
#   Containers that use accelerators in pods that train or serve a part of a model, with the fabric profile that all pools
#   share on which the pods can run. Only for workloads of several pods, because one pod does not use the network between
#   nodes.
training_containers := [entry |
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	name := _fabric_of(pod_set)
	some container in pod_set.containers
	trains(container)
	entry := {"podSet": pod_set, "container": container, "fabric": name, "profile": input.fabrics[name]}
]

# METADATA
# title: Whether a container trains and asks for accelerators itself
# description: Not a sidecar that gets devices by an annotation, as the daemon of a fabric does.
trains(container) if {
	container.type == "container"
	container.trains
	container.asksAccelerators
}

# METADATA
# title: Reason of a change for a fabric
reason(entry) := $"fabric {entry.fabric} needs it, and the pod can run only on nodes with this fabric"

# METADATA
# title: A volume with one file of a ConfigMap
# description: |
#   Includes all defaults of the API server, so that usher recognises the volume in the stored object. A pod waits with
#   a clear reason if its ConfigMap lacks the file. Without `items` the path would be an empty directory.
volume(name, file) := {"name": name, "configMap": {
	"name": file.configMap,
	"items": [{"key": file.key, "path": file.key}],
	"defaultMode": 420,
	"optional": false,
}}

# METADATA
# title: Objects that the volume needs in the cluster
needs_of_volume(file) := [{"group": "", "kind": "ConfigMap", "name": file.configMap, "namespace": input.workload.namespace}]

# The fabric of the pods; undefined where usher does not know it, and where it is not for a part of a node.
_fabric_of(pod_set) := name if {
	name := _common_fabric(pod_set)
	not _why_withheld(pod_set)
}

# The fabric that all pools share; undefined if they differ or if one pool has no fabric.
_common_fabric(pod_set) := name if {
	some name in {fit.fabric | some fit in pools.fits(pod_set)}
	every fit in pools.fits(pod_set) { fit.fabric == name }
}

# Nodes of a pool that usher does not know may have another network.
_why_withheld(pod_set) := _other_devices if pod_set.undeclaredDevices

else := $"{why}; add the label to the nodeSelector of the pool with these nodes" if {
	why := placement.why_pool_unknown(pod_set)
}

else := $"fabric {name} is for pods with all {of_node} GPUs of a node, and a pod asks for {asked}" if {
	name := _common_fabric(pod_set)
	input.fabrics[name].wholeNodes
	of_node := max({fit.gpus | some fit in pools.fits(pod_set)})
	asked := sum([gpus(container, object.keys(container.accelerators)) |
		some container in pod_set.containers
		container.type == "container"
	])
	asked < of_node
}

_other_devices := "the pods select devices that no declared node pool has"

# METADATA
# title: Why pods get no fabric profile, although a pool on which they can run has one
# description: The webhook warns the user, because training without its fabric is slow and nothing else shows the reason.
ambiguities contains {"at": pod_set.path, "reason": $"{workload.pod_set_name(pod_set)} gets no fabric profile, because {why}"} if {
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	_trains(pod_set)
	some fit in pools.fits(pod_set)
	fit.fabric
	why := _why_ambiguous(pod_set)
	why != _other_devices
}

_why_ambiguous(pod_set) := why if {
	why := _why_withheld(pod_set)
} else := why if {
	not _common_fabric(pod_set)
	of_each := [$"pool {each.pool} {_fabric_text(each)}" | some each in pools.fits(pod_set)]
	why := $"it fits {concat(" and ", of_each)}; select the nodes of one pool, or say in usher.yaml with pools[].for whom each pool is for"
}

_fabric_text(fit) := $"with fabric {fit.fabric}" if fit.fabric

_fabric_text(fit) := "without a fabric" if not fit.fabric

_why_no_fabric contains $"the role of the workload is {input.workload.role}, and only training and models that span pods get a fabric profile" if {
	not cooperation.computes_together
}

_why_no_fabric contains "the workload has only one pod, which does not use the network between nodes" if {
	cooperation.computes_together
	not workload.makes_several_pods
	not input.workload.owned
}

_why_no_fabric contains "a controller made this pod, and the webhook gives the fabric profile to its template" if {
	cooperation.computes_together
	not workload.makes_several_pods
	input.workload.owned
}

_why_no_fabric contains "each of its pods trains by itself, as far as its command tells" if {
	cooperation.computes_together
	workload.makes_several_pods
	not input.workload.gang.wanted
	not cooperation.spans_pods
}

# METADATA
# title: Why pods get no fabric profile
skips contains {"at": "", "reason": why} if some why in _why_no_fabric

skips contains {"at": pod_set.path, "reason": _why_skipped(pod_set)} if {
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
}

skips contains {"at": pod_set.path, "reason": "no container of the pod both trains and asks for accelerators"} if {
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	_fabric_of(pod_set)
	not _trains(pod_set)
}

_why_skipped(pod_set) := why if {
	why := _why_withheld(pod_set)
} else := "the nodes on which it can run have no common fabric, or usher.yaml names no fabric for them" if {
	not _common_fabric(pod_set)
}

_trains(pod_set) if {
	some container in pod_set.containers
	trains(container)
}
