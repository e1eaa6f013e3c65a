# METADATA
# title: Pods with accelerators have a priority class
# description: |
#   A pod without a class gets the default class of the cluster, or priority 0 if the cluster has no default class. Any
#   pod with a class of higher value may then evict it, and a training run loses its unsaved work. Kubernetes writes a
#   default class into pods before this check sees them, but not into templates. The label kueue.x-k8s.io/priority-class
#   also counts as a choice, because it orders the queue. The check skips system namespaces and objects that a
#   controller made.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH602
#   about: accelerator pods
#   severity: low
#   strict_only: Many clusters have one level of priority, where a class changes nothing.
#   why: Any pod that has a class can push the training run off its GPUs.
#   closes: [S23]
#   remediation: Name a priority class in every template whose pods ask for accelerators.
package usher.checks.priority.class_missing

import data.usher.lib.priority
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	not input.site.systemNamespace
	not priority.workload_class
	some pod_set in workload.accelerator_pod_sets
	pod_set.priorityClassName == ""

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has no priority class, so its pods {_get(pod_set)}",
		"remedy": "set priorityClassName to a class of the cluster; kubectl get priorityclasses lists them",
	}
}

_get(pod_set) := $"get {priority.shown(class)}" if {
	class := priority.class_of(pod_set)
	class.name != ""
} else := "have priority 0" if priority.class_of(pod_set)

else := "have priority 0 unless the cluster has a default"
