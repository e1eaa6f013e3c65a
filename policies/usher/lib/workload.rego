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

# METADATA
# title: Containers
# description: Every container of every list, with its pod set; a list for the same reason.
containers := [entry |
	some pod_set in input.podSets
	some container in pod_set.containers
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: What is assumed of agents of nodes
# description: |
#   Drivers, plugins and monitoring run as DaemonSets, in whatever namespace their vendor gave them, and need what no
#   other pod may have. Until usher.yaml says which namespaces these are (`priorities.systemNamespaces`), a DaemonSet is
#   taken for one, and so are the pods that the controller of DaemonSets makes. To be joined to a finding.
assumption_of_agents := {"assumption": text} if {
	not input.site.systemNamespacesDeclared
	_of_a_daemon_set
	text := "it may be an agent of the node; usher.yaml names their namespaces under priorities.systemNamespaces"
} else := {}

_of_a_daemon_set if input.workload.kind == "DaemonSet"

_of_a_daemon_set if {
	input.workload.owner == {"group": "apps", "kind": "DaemonSet"}
	not input.review
}

# Anybody can write an owner; who makes the pod is what the API server says.
_of_a_daemon_set if {
	input.workload.owner == {"group": "apps", "kind": "DaemonSet"}
	"controllers" in input.review.by
}

# METADATA
# title: Ordinary pod sets
# description: Pod sets of which no pod asks for an accelerator, by whichever route.
ordinary_pod_sets := [pod_set |
	some pod_set in input.podSets
	not pod_set.asksAccelerators
]

# METADATA
# title: Path of a field of the pod spec
# description: Below the pod spec, but for kinds that keep the field in a place of its own.
field_path(pod_set, field) := pod_set.places[field]

field_path(pod_set, field) := $"{pod_set.specPath}/{field}" if not pod_set.places[field]
