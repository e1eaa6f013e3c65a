# METADATA
# title: MIG
# description: MIG slices that the containers of a workload ask for. The input describes profiles and boards.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.mig

import data.usher.lib.amounts
import data.usher.lib.workload

# METADATA
# title: Slices
# description: |
#   Every MIG resource that a container asks for, with the container and the profile. A list, because a set would hash
#   whole pod sets.
slices := [slice |
	some pod_set in input.podSets
	some container in pod_set.containers
	some slice in _named_slices(pod_set, container)
]

# METADATA
# title: Slices of a container
# description: Under either name.
slices_of(pod_set, container) := array.concat(_named_slices(pod_set, container), _selected_slices(pod_set, container))

_named_slices(pod_set, container) := [entry |
	some name, resource in container.accelerators
	profile := pod_set.mig.profiles[name]
	count := amounts.effective(resource).value
	count > 0

	entry := {"podSet": pod_set, "container": container, "name": name, "profile": profile, "count": count}
]

_selected_slices(pod_set, container) := [entry |
	profile := pod_set.mig.selectedProfile
	count := amounts.effective(container.accelerators["nvidia.com/gpu"]).value
	count > 0

	entry := {"podSet": pod_set, "container": container, "name": "nvidia.com/gpu", "profile": profile, "count": count}
]

# METADATA
# title: Slices under the name of GPUs
# description: |
#   Requests for nvidia.com/gpu in pods whose node selector selects nodes under the MIG strategy single. There each
#   nvidia.com/gpu is a slice.
slices_as_gpus := [slice |
	some pod_set in input.podSets
	some container in pod_set.containers
	some slice in _selected_slices(pod_set, container)
]

# METADATA
# title: Slices that are not shared
# description: Under either name.
own_slices := [slice |
	some slice in array.concat(slices, slices_as_gpus)
	not slice.profile.shared
]

# METADATA
# title: Path of a resource
# description: In the limits, where people look for accelerators, or in the requests if the limits lack the resource.
path(container, name) := workload.resource_path(container, "limits", name) if container.accelerators[name].limits

path(container, name) := workload.resource_path(container, "requests", name) if {
	not container.accelerators[name].limits
}

# METADATA
# title: The owner of slices in a message
of_one_pod(pod_set) := $"the slices of one pod of {pod_set.name}" if pod_set.name != ""

of_one_pod(pod_set) := "the slices of the pod" if pod_set.name == ""
