# METADATA
# title: Pods use the priority classes of their namespace
# description: |
#   Every namespace may use every priority class unless a quota forbids it. In time, everything becomes critical. Where
#   a site lists the classes of a namespace, no pod there may have another class. This includes pods without
#   accelerators, because they may evict pods with accelerators. The class of the PodGroup that an operator makes also
#   counts, and so does the label priorityClassName on workloads of KAI-Scheduler. Kubernetes writes the default class of the cluster into pods, so the list must contain it. Without a list,
#   every class is allowed. Another check handles the system classes and the system namespaces.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#limit-priority-class-consumption-by-default
#     description: Kubernetes on limiting the use of priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH603
#   about: pods
#   severity: high
#   why: A user who may name any class can evict the pods of every other team.
#   closes: [S23]
#   parameters:
#     allowed:
#       default: []
#       description: Priority classes that pods may have. An empty list allows all classes.
#   remediation: |
#     Name a class of your namespace, or have the class allowed in usher.yaml (parameters, class-not-allowed, allowed).
package usher.checks.priority.class_not_allowed

import data.usher.lib.kai
import data.usher.lib.kubeflow
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	count(_allowed) > 0
	not input.site.systemNamespace
	some named in _named
	named.class != ""
	not startswith(named.class, "system-")
	not named.class in _allowed

	finding := {
		"path": named.path,
		"message": $"priority class {text.excerpt(named.class)} is not allowed in this namespace",
		"remedy": $"use one of the allowed classes: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.priority.class_not_allowed.allowed

_named contains {"path": workload.field_path(pod_set, "priorityClassName"), "class": pod_set.priorityClassName} if {
	some pod_set in input.podSets
}

_named contains {"path": input.workload.gangPlaces.priorityClass, "class": kubeflow.scheduling_policy.priorityClass}

_named contains {"path": "/metadata/labels/ray.io~1priority-class-name", "class": class} if {
	class := input.workload.labels["ray.io/priority-class-name"]
}

_named contains {"path": entry.path, "class": entry.name} if some entry in kai.priority_classes
