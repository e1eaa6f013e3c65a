# METADATA
# title: Shared GPUs
# description: |
#   Which pods get shares of GPUs, by what they ask for or by the nodes that they run on. On most of these nodes, shares
#   have the same name as whole GPUs.
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
#   Its requests for a GPU that other pods use too. HAMi and Volcano give a container the whole GPU if it asks for all
#   cores or all memory, so this is not a share.
shares(pod_set) := [request |
	some request in pod_set.requests
	request.route in ["share", "fraction annotation"]
	not _held_alone(pod_set, request.name)
]

# METADATA
# title: Parts of GPUs by annotation beside whole GPUs
# description: Pods that KAI-Scheduler refuses, each with its container and the annotation.
fractions_beside_gpus := [{"podSet": pod_set, "container": container, "annotation": annotation} |
	some pod_set in input.podSets
	some annotation in ["gpu-fraction", "gpu-memory"]
	pod_set.annotations[annotation]
	some container in pod_set.containers
	container.accelerators["nvidia.com/gpu"].limits
]

# METADATA
# title: Whether only HAMi counts a resource
# description: The memory and the cores of a share, which nodes do not offer. Volcano counts those of Ascend NPUs too.
counted_by_hami(name) if {
	name in [
		"amd.com/gpucores", "amd.com/gpumem", "hygon.com/dcucores", "hygon.com/dcumem", "kunlunxin.com/vxpu-memory",
		"nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage",
	]
}

counted_by_hami(name) if regex.match(`^iluvatar\.ai/[A-Za-z0-9_-]+\.v(Mem|Core)$`, name)

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

# A container that asks for all memory gets all cores by default.
_takes_all(container) if {
	not container.accelerators["nvidia.com/gpucores"]
	amounts.effective(container.accelerators["nvidia.com/gpumem-percentage"]).value >= 100
}

# METADATA
# title: Nodes with shared GPUs
# description: |
#   The path of the setting that restricts the pods to nodes with shared GPUs, and which nodes these are. Undefined if
#   the pods can run on other nodes or if usher does not know.
shared_nodes(pod_set) := {"path": path, "which": $"nodes with {label}: {text.excerpt(pod_set.nodeSelector[label])}"} if {
	label := _selected(pod_set)
	key := replace(label, "/", "~1")
	path := $"{workload.field_path(pod_set, "nodeSelector")}/{key}"
} else := {"path": pod_set.specPath, "which": $"the pool {pod_set.fits[0].pool}"} if {
	count(pod_set.fits) > 0
	every fit in pod_set.fits {
		_is_shared(fit)
	}
}

# METADATA
# title: Whether nvidia.com/gpu is a MIG slice on all nodes of the pods
# description: By the node selector, or by the labels of all pools that fit.
sliced_nodes(pod_set) if _says_sliced(pod_set.nodeSelector)

sliced_nodes(pod_set) if {
	not pod_set.nodeSelector["nvidia.com/gpu.product"]
	count(pod_set.fits) > 0
	every fit in pod_set.fits {
		_says_sliced(fit.labels)
	}
}

_says_sliced(labels) if contains(labels["nvidia.com/gpu.product"], "-MIG-")

_says_sliced(labels) if labels["cloud.google.com/gke-gpu-partition-size"]

# The same label on every engine, if there are several.
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
