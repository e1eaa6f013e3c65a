# METADATA
# title: GPUs
# description: Devices that one process uses as a whole. MIG devices, shares, TPUs and Neuron devices do not count.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.gpus

import data.usher.lib.amounts
import data.usher.lib.sharing

# METADATA
# title: GPUs of a container
# description: |
#   Undefined where the container has other devices, where its nodes offer shares or slices as GPUs, or where usher does
#   not know the number.
of_container(pod_set, container) := amounts.effective(resource).value if {
	count(container.accelerators) == 1
	some name, resource in container.accelerators
	name in ["amd.com/gpu", "habana.ai/gaudi", "nvidia.com/gpu"]
	not sharing.shared_nodes(pod_set)
	not sharing.sliced_nodes(pod_set)
}

of_container(pod_set, container) := request.minimum.value if {
	count(container.accelerators) == 0
	count(pod_set.requests) == 1
	request := pod_set.requests[0]
	request.route == "device claim"
	request.name in ["gpu.amd.com", "gpu.nvidia.com"]
	request.minimum.value == request.maximum.value
	have_one_user(pod_set)
}

# METADATA
# title: Whether one container of a pod uses all its accelerators
have_one_user(pod_set) if {
	users := [container | some container in pod_set.containers; container.asksAccelerators]
	count(users) == 1
}
