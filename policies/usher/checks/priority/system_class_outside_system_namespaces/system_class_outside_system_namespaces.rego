# METADATA
# title: Only system namespaces use system priority classes
# description: |
#   The classes system-cluster-critical and system-node-critical rank above every class that a user can create. Their
#   pods evict any training run and any service to get a GPU. They are for components that keep the cluster alive.
#   Kubernetes lets every namespace use them unless a quota forbids it. Class names that begin with system- are
#   reserved. KAI-Scheduler also reads a class from the label priorityClassName. usher.yaml lists the namespaces that may
#   use them under `priorities.systemNamespaces`.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#limit-priority-class-consumption-by-default
#     description: Kubernetes on limiting the use of priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH601
#   about: pods
#   severity: critical
#   of_agents: true
#   why: The pod evicts every training run and every service in its way.
#   closes: [S23]
#   remediation: |
#     Use a priority class of your own, with a value of at most 1000000000. Or list the namespace in usher.yaml under
#     `priorities.systemNamespaces`.
package usher.checks.priority.system_class_outside_system_namespaces

import data.usher.lib.kai
import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some pod_set in input.podSets
	startswith(pod_set.priorityClassName, "system-")

	finding := _finding(
		workload.field_path(pod_set, "priorityClassName"),
		workload.pod_set_name(pod_set),
		pod_set.priorityClassName,
	)
}

deny contains finding if {
	not input.site.systemNamespace
	some entry in kai.priority_classes
	startswith(entry.name, "system-")
	finding := _finding(entry.path, "the workload", entry.name)
}

_finding(path, name, class) := {
	"path": path,
	"message": $"{name} uses priority class {class}, which outranks all other workloads and is only for system namespaces",
	"remedy": "use a priority class of your own, with a value of at most 1000000000, or move it to a system namespace",
}
