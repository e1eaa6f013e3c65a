# METADATA
# title: Workloads use the priority class that usher.yaml declares for them
# description: |
#   Where usher.yaml declares a PriorityClass for some workloads, usher adds it to workloads that name no class.
#   Workloads that name another class keep it, because their author may have a reason. The check reports them, because a
#   class decides which pods evict others. It skips objects that a controller made, because their owner names the class.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH612
#   about: accelerator pods
#   severity: low
#   why: Pods with the wrong class preempt other pods, or other pods preempt them.
#   closes: [S23]
#   remediation: Remove priorityClassName, or have the class declared for these workloads under priorities.classes.
package usher.checks.priority.class_other_than_declared

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	declared := input.site.priority.priorityClass
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not pod_set.priorityClassName in {"", declared, object.get(input.site, "globalDefaultPriority", "")}

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has priority class {text.excerpt(pod_set.priorityClassName)}, but usher.yaml declares {declared}",
		"remedy": "remove priorityClassName",
	}
}
