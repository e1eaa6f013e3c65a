# METADATA
# title: The workload
# description: The only place that knows the shape of the input; checks and mutations read it through these rules.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.workload

# METADATA
# title: Accelerator pod sets
# description: |
#   Pod sets of which every pod asks for an accelerator, by whichever route. A list, because a set would compute the
#   hash of whole pod sets, which costs more than all checks.
accelerator_pod_sets := [pod_set |
	some pod_set in input.podSets
	pod_set.asksAccelerators
]

# METADATA
# title: Accelerator resources
# description: Every accelerator resource that a container names, with the container; a list for the same reason.
accelerator_resources := [entry |
	some pod_set in input.podSets
	some container in pod_set.containers
	some name, resource in container.accelerators

	entry := {"podSet": pod_set, "container": container, "name": name, "resource": resource}
]

# METADATA
# title: Path of a resource
# description: JSON Pointer to one resource of a container; `list` is "requests" or "limits".
resource_path(container, list, name) := path if {
	path := container.accelerators[name].places[list]
} else := $"{container.path}/resources/{list}/{escaped}" if {
	escaped := replace(replace(name, "~", "~0"), "/", "~1")
}

# METADATA
# title: Name of a container, as people say it
container_name(pod_set, container) := $"{container.type} {container.name} of {pod_set.name}" if pod_set.name != ""

container_name(pod_set, container) := $"{container.type} {container.name}" if pod_set.name == ""

# METADATA
# title: Name of a pod set, as people say it
pod_set_name(pod_set) := pod_set.name if pod_set.name != ""

pod_set_name(pod_set) := "the pod" if pod_set.name == ""

# METADATA
# title: Whether the workload can make more than one pod
makes_several_pods if input.workload.pods.maximum > 1

makes_several_pods if not input.workload.pods.maximum
