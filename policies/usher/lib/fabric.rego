# METADATA
# title: The fabric
# description: What containers say to NCCL and to the network between their nodes.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.fabric

import data.usher.lib.amounts
import data.usher.lib.workload

# METADATA
# title: Containers of accelerator pods
# description: With their pod set, whether they ask for accelerators themselves or not; a list, as in the workload's library.
containers := [entry |
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: Containers whose environment the ranks see
# description: Not those whose ranks sshd starts, which hands nothing on.
rank_containers := [entry |
	some entry in containers
	entry.podSet.ranksInheritEnvironment
]

# METADATA
# title: Whether a volume is mounted at a path or above it
mounted(container, path) if {
	some mount in container.volumeMounts
	startswith($"{path}/", $"{trim_right(mount.mountPath, "/")}/")
}

# METADATA
# title: Whether something else than a volume of this name is mounted at a path or above it
mounted_by_others(container, path, volume) if {
	some mount in container.volumeMounts
	object.get(mount, "name", "") != volume
	startswith($"{path}/", $"{trim_right(mount.mountPath, "/")}/")
}

# METADATA
# title: Whether the object says what its containers mount
# description: A TrainJob leaves that to its runtime.
mounts_known if not input.object.trainJob

# METADATA
# title: Devices beside accelerators
# description: |
#   What containers of accelerator pods say of other resources that Kubernetes gives to one container alone: devices such
#   as network cards, and huge pages.
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
# title: Path of what a container says of such a device
device_path(device, list) := path if {
	path := device.resource.places[list]
} else := $"{device.container.path}/resources/{list}/{replace(device.name, "/", "~1")}"

# METADATA
# title: An amount of such a device, as people say it
# description: Huge pages are bytes.
shown(device, amount) := amounts.bytes(amount.value) if startswith(device.name, "hugepages-")

shown(device, amount) := amount.text if not startswith(device.name, "hugepages-")

# METADATA
# title: Whether something may give the pods a network device that RDMA runs over
# description: Any device beside accelerators, device claims, networks of Multus and of GKE, and the network of the node.
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
# title: GPUs of a container
# description: Of the resources that are named, what its limits say, or its requests where it has no limit.
gpus(container, resources) := sum([amount.value |
	some name, resource in container.accelerators
	name in resources
	amount := object.get(resource, "limits", object.get(resource, "requests", {"value": 0}))
])

# METADATA
# title: Why the containers of a pod set have shared memory, or get it from somebody else
# description: Undefined where each has the 64 MiB that it begins with, unless it mounts more.
why_shared_memory(_) := "a TrainJob leaves its mounts to its runtime" if not mounts_known

why_shared_memory(pod_set) := "its pods have the shared memory of their node" if {
	mounts_known
	pod_set.hostIPC
}

why_shared_memory(pod_set) := "KubeRay mounts it by itself" if {
	mounts_known
	not pod_set.hostIPC
	"RAY_*" in pod_set.operatorEnvironment
}

# METADATA
# title: Whether a container has only the 64 MiB of shared memory that every container begins with
lacks_shared_memory(pod_set, container) if {
	container.type == "container"
	not why_shared_memory(pod_set)
	not mounted(container, "/dev/shm")
}

# METADATA
# title: Containers that train on a fabric
# description: |
#   The containers that do the work of training pods with accelerators, with the one profile that all nodes share on
#   which the pods could run. Only of workloads of several pods: one pod alone does not leave its node.
training_containers := [entry |
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	name := _fabric_of(pod_set)
	some container in pod_set.containers
	trains(container)
	entry := {"podSet": pod_set, "container": container, "fabric": name, "profile": input.fabrics[name]}
]

# METADATA
# title: Whether a container does the work of its pod with accelerators of its own
trains(container) if {
	container.trains
	container.asksAccelerators
}

# METADATA
# title: Why something is given to containers on a fabric
reason(entry) := $"fabric {entry.fabric} of the nodes on which the pod can run needs it"

# METADATA
# title: A volume with one file of a ConfigMap
# description: |
#   All that the API server would write into it is said, so that it is recognised in what is stored. A pod whose ConfigMap
#   lacks the file waits, and says so; mounted without it, the path would be an empty directory.
volume(name, file) := {"name": name, "configMap": {
	"name": file.configMap,
	"items": [{"key": file.key, "path": file.key}],
	"defaultMode": 420,
	"optional": false,
}}

# METADATA
# title: What must be in the cluster for such a volume
needs_of_volume(file) := [{"group": "", "kind": "ConfigMap", "name": file.configMap, "namespace": input.workload.namespace}]

# The one that all pools share; undefined where they differ or one has none.
_fabric_of(pod_set) := name if {
	some name in {fit.fabric | some fit in pod_set.fits}
	every fit in pod_set.fits { fit.fabric == name }
}

_why_no_fabric contains $"a workload for {input.workload.role} is given no fabric: only training is" if {
	input.workload.role != "training"
}

_why_no_fabric contains "one pod does not leave its node" if {
	input.workload.role == "training"
	not workload.makes_several_pods
	not input.workload.owned
}

_why_no_fabric contains "whether it is one of several pods is not known here: the template that it was made of is given a fabric" if {
	input.workload.role == "training"
	not workload.makes_several_pods
	input.workload.owned
}

# METADATA
# title: Why a profile is not given to pods
skips contains {"at": "", "reason": why} if some why in _why_no_fabric

skips contains {"at": pod_set.path, "reason": "the nodes on which it can run have no fabric in common, or usher.yaml names none"} if {
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	not _fabric_of(pod_set)
}

skips contains {"at": pod_set.path, "reason": "none of its containers does the training with accelerators of its own"} if {
	count(_why_no_fabric) == 0
	some pod_set in workload.accelerator_pod_sets
	_fabric_of(pod_set)
	not _trains(pod_set)
}

_trains(pod_set) if {
	some container in pod_set.containers
	trains(container)
}
