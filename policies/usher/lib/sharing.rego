# METADATA
# title: Shared GPUs
# description: |
#   Which pods get shares of GPUs: by what they ask for, or by the nodes that they run on, whose shares mostly have the
#   same name as whole GPUs.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.sharing

import data.usher.lib.amounts
import data.usher.lib.text
import data.usher.lib.workload

# METADATA
# title: Shares that a pod asks for
# description: |
#   Its requests that give access to a GPU which others use too. HAMi and Volcano give a container that asks for all
#   cores or all memory of a GPU the GPU alone, so that is no share.
shares(pod_set) := [request |
	some request in pod_set.requests
	request.route in ["share", "fraction annotation"]
	not _held_alone(pod_set, request.name)
]

_held_alone(pod_set, name) if {
	holders := [container |
		some container in pod_set.containers
		container.accelerators[name]
	]
	count(holders) > 0
	every holder in holders {
		_takes_all(holder)
	}
}

_takes_all(container) if {
	some name in ["nvidia.com/gpucores", "volcano.sh/vgpu-cores"]
	amounts.effective(container.accelerators[name]).value >= 100
}

# The cores default to all where all of the memory is asked for.
_takes_all(container) if {
	not container.accelerators["nvidia.com/gpucores"]
	amounts.effective(container.accelerators["nvidia.com/gpumem-percentage"]).value >= 100
}

# METADATA
# title: Nodes with shared GPUs
# description: |
#   That the pods can run on no others, with the place that says so and which nodes these are; undefined where they can
#   or nobody says.
shared_nodes(pod_set) := {"path": path, "which": $"nodes with {label}: {text.excerpt(pod_set.nodeSelector[label])}"} if {
	label := _selected(pod_set)
	key := replace(label, "/", "~1")
	path := $"{workload.field_path(pod_set, "nodeSelector")}/{key}"
}

shared_nodes(pod_set) := {"path": pod_set.specPath, "which": $"the pool {pod_set.fits[0].pool}"} if {
	not _selected(pod_set)
	count(pod_set.fits) > 0
	every fit in pod_set.fits {
		_is_shared(fit)
	}
}

# Of several labels always the same, whatever order the engine goes through them in.
_selected(pod_set) := min([label |
	some label, value in pod_set.nodeSelector
	_says_shared(label, value)
])

_is_shared(fit) if {
	some label, value in fit.labels
	_says_shared(label, value)
}

# Written by GPU feature discovery, and by GKE.
_says_shared("nvidia.com/gpu.sharing-strategy", value) if value in ["mps", "time-slicing"]

_says_shared("nvidia.com/gpu.product", value) if endswith(value, "-SHARED")

_says_shared("cloud.google.com/gke-gpu-sharing-strategy", value) if value in ["mps", "time-sharing"]
