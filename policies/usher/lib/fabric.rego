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
