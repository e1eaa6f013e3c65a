# METADATA
# title: Ray
# description: Groups of Ray nodes, and the GPUs that Ray counts in each node of a group.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.ray

import data.usher.lib.amounts

# METADATA
# title: The head and the worker groups of a Ray object
# description: Each with its path and its fields.
groups := array.concat([_head], _workers)

_head := {"path": $"{_cluster.path}/headGroupSpec", "spec": object.get(_cluster.spec, "headGroupSpec", {})}

_workers := [group |
	some index, spec in _cluster.spec.workerGroupSpecs
	group := {"path": $"{_cluster.path}/workerGroupSpecs/{index}", "spec": spec}
]

_cluster := {"path": "/spec", "spec": input.object.rayCluster.spec}

_cluster := {"path": "/spec/rayClusterSpec", "spec": input.object.rayJob.spec.rayClusterSpec}

_cluster := {"path": "/spec/rayClusterConfig", "spec": input.object.rayService.spec.rayClusterConfig}

# METADATA
# title: Whether Ray changes the number of its nodes
autoscales if _cluster.spec.enableInTreeAutoscaling

# METADATA
# title: The pod sets of a group
pod_sets(group) := [input.podSets[index] | some index in _indexes[$"{group.path}/template"]]

_indexes[pod_set.path] contains index if some index, pod_set in input.podSets

# METADATA
# title: The container from which KubeRay reads the resources of a Ray node
container(pod_set) := [container | some container in pod_set.containers; container.type == "container"][0]

# METADATA
# title: GPUs that a group says a Ray node has, with the path of the number
# description: Undefined where KubeRay reads the number from the limits of the container.
logical_gpus(group) := {"path": $"{group.path}/resources/{name}", "number": number} if {
	# `resources` of the group takes precedence over the start parameters.
	some name in ["GPU", "gpu"]
	number := _number(group.spec.resources[name])
} else := {"path": $"{group.path}/rayStartParams/num-gpus", "number": number} if {
	number := _number(group.spec.rayStartParams["num-gpus"])
}

_number(text) := to_number(text) if trim(text, "0123456789") == ""

# METADATA
# title: GPUs of a container that KubeRay counts
gpus(container) := sum([amounts.effective(resource).value | some resource in container.accelerators]) if {
	_by_resources(container)
	every name, _ in container.accelerators {
		_counts_gpus(name)
	}
}

_by_resources(container) if not container.asksAccelerators

_by_resources(container) if count(container.accelerators) > 0

# Excludes memory and cores of a GPU, and accelerators like TPUs, which have their own names in Ray.
_counts_gpus(name) if endswith(name, "/gpu")

_counts_gpus(name) if endswith(name, ".shared")

_counts_gpus(name) if startswith(name, "nvidia.com/mig-")

# METADATA
# title: GPUs that Ray counts in each node of a group
# description: Undefined where usher does not know them.
gpus_of_node(group) := logical_gpus(group).number

gpus_of_node(group) := gpus(container(pod_sets(group)[0])) if not logical_gpus(group)

# METADATA
# title: Thousandths of a CPU that Ray counts in each node of a group
# description: |
#   Ray rounds up the limit, or without one the request, of the first container. Undefined where a group sets resources,
#   and where usher does not know the number.
cpus_of_node(group) := number * 1000 if {
	number := _number(group.spec.rayStartParams["num-cpus"])
} else := ceil(_cpus(container(pod_sets(group)[0]))) * 1000 if {
	not group.spec.resources
	not group.spec.rayStartParams["num-cpus"]
}

_cpus(container) := container.resources.cpu.limits.value

_cpus(container) := container.resources.cpu.requests.value if not container.resources.cpu.limits
