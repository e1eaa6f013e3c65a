# METADATA
# title: The workload
# description: |
#   Checks and mutations read the workload through these rules. No other library reads the shape of the input.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.workload

# METADATA
# title: Accelerator pod sets
# description: |
#   Pod sets whose pods all ask for an accelerator, by any route. A list, because a set would hash whole pod sets, which
#   costs more than all checks.
accelerator_pod_sets := [pod_set |
	some pod_set in input.podSets
	pod_set.asksAccelerators
]

# METADATA
# title: Accelerator resources
# description: Every accelerator resource that a container names, with the container. A list for the same reason.
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
# title: Name of a container in a message
container_name(pod_set, container) := $"{_shown_container(container)} of {pod_set.name}" if pod_set.name != ""

container_name(pod_set, container) := _shown_container(container) if pod_set.name == ""

_shown_container(container) := $"{container.type} {container.name}" if container.name != ""

_shown_container(container) := $"the {container.type} without a name" if container.name == ""

# METADATA
# title: Name of a pod set in a message
pod_set_name(pod_set) := pod_set.name if pod_set.name != ""

pod_set_name(pod_set) := "the pod" if pod_set.name == ""

# METADATA
# title: Whether the workload can make more than one pod
makes_several_pods if input.workload.pods.maximum > 1

makes_several_pods if not input.workload.pods.maximum

# METADATA
# title: Containers
# description: Every container of every list, with its pod set; a list for the same reason.
containers := [entry |
	some pod_set in input.podSets
	some container in pod_set.containers
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: Whether the pods are those of a DaemonSet
of_a_daemon_set if input.workload.kind == "DaemonSet"

of_a_daemon_set if input.workload.owner == {"group": "apps", "kind": "DaemonSet"}

# METADATA
# title: Ordinary pod sets
# description: |
#   Pod sets with pods that ask for no accelerator, by any route. A container that names an accelerator with an amount
#   that usher cannot read asks for one; how many its pods get is unknown.
ordinary_pod_sets := [pod_set |
	some pod_set in input.podSets
	not pod_set.asksAccelerators
	every container in pod_set.containers {
		not container.asksAccelerators
	}
]

# METADATA
# title: Path of a field of the pod spec
# description: Below the pod spec, except for kinds that keep the field elsewhere.
field_path(pod_set, field) := pod_set.places[field]

field_path(pod_set, field) := $"{pod_set.specPath}/{field}" if not pod_set.places[field]

# METADATA
# title: Path of a volume of the pod
# description: Below the pod spec, except for kinds that merge volumes from several places.
volume_path(pod_set, index) := pod_set.places[$"volumes/{index}"]

volume_path(pod_set, index) := $"{field_path(pod_set, "volumes")}/{index}" if not pod_set.places[$"volumes/{index}"]

# METADATA
# title: Path of a field of a container
# description: Below the container, except for kinds that merge fields from several places.
container_path(container, field) := container.places[field]

container_path(container, field) := $"{container.path}/{field}" if not container.places[field]

# METADATA
# title: User without capabilities
# description: The user of a container that is known not to be root; capabilities that it adds have no effect for it.
user_without_capabilities(pod_set, container) := user if {
	user := object.get(container, ["securityContext", "runAsUser"], object.get(pod_set, ["securityContext", "runAsUser"], 0))
	user > 0
}
