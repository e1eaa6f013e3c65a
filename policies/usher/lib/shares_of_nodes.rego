# METADATA
# title: Shares of nodes
# description: How many of the GPUs of its node a training container has.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.shares_of_nodes

import data.usher.lib.fabric
import data.usher.lib.sharing

# METADATA
# title: Whether a container has parts of GPUs alone
# description: Shares by annotation or by slices of time, and partitions, for example MIG instances.
parts_of_gpus(entry) if count(sharing.shares(entry.podSet)) > 0

parts_of_gpus(entry) if {
	count(entry.container.accelerators) > 0
	count(_whole(entry)) == 0
}

# METADATA
# title: Whole GPUs of a container
# description: By its resources, or else by the device claims of its pod.
gpus(entry) := fabric.gpus(entry.container, _whole(entry)) if count(entry.container.accelerators) > 0

gpus(entry) := sum([request.minimum.value |
	some request in entry.podSet.requests
	request.route == "device claim"
]) if {
	count(entry.container.accelerators) == 0
}

# METADATA
# title: Whether a container has fewer GPUs than its node
# description: As far as the pools say how many GPUs a node has.
leaves_gpus(entry) if parts_of_gpus(entry)

leaves_gpus(entry) if gpus(entry) < max({fit.gpus | some fit in entry.podSet.fits})

# Names of the resources of a container that are whole accelerators; several MIG instances are parts of one board too.
_whole(entry) := {request.name |
	some request in entry.podSet.requests
	request.route == "extended resource"
	entry.container.accelerators[request.name]
}
