# METADATA
# title: MIG
# description: What the containers of a workload ask for of MIG. What profiles and boards are, the input tells.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.mig

import data.usher.lib.amounts
import data.usher.lib.workload

# METADATA
# title: Slices
# description: |
#   Every MIG resource of which a container asks for any, with its container and what the resource stands for; a list,
#   because a set would compute the hash of whole pod sets.
slices := [entry |
	some pod_set in input.podSets
	some name, profile in pod_set.mig.profiles
	some container in pod_set.containers
	count := amounts.effective(container.accelerators[name]).value
	count > 0

	entry := {"podSet": pod_set, "container": container, "name": name, "profile": profile, "count": count}
]

# METADATA
# title: Slices under the name of GPUs
# description: |
#   What containers ask for as nvidia.com/gpu, where the node selector says that these are slices there, under the MIG
#   strategy single.
slices_as_gpus := [entry |
	some pod_set in input.podSets
	profile := pod_set.mig.selectedProfile
	some container in pod_set.containers
	count := amounts.effective(container.accelerators["nvidia.com/gpu"]).value
	count > 0

	entry := {"podSet": pod_set, "container": container, "name": "nvidia.com/gpu", "profile": profile, "count": count}
]

# METADATA
# title: Slices that nobody else uses
# description: Under either name.
own_slices := [slice |
	some slice in array.concat(slices, slices_as_gpus)
	not slice.profile.shared
]

# METADATA
# title: Path of a resource
# description: In the limits, where people look for accelerators; in the requests if it stands nowhere else.
path(container, name) := workload.resource_path(container, "limits", name) if container.accelerators[name].limits

path(container, name) := workload.resource_path(container, "requests", name) if {
	not container.accelerators[name].limits
}

# METADATA
# title: Whose slices they are, as people say it
of_one_pod(pod_set) := $"the slices of one pod of {pod_set.name}" if pod_set.name != ""

of_one_pod(pod_set) := "the slices of the pod" if pod_set.name == ""
