# METADATA
# title: Workloads have the priority class that is declared for them
# description: |
#   Where usher.yaml declares a PriorityClass for some workloads, those that name none are given it, and those that name
#   another one keep it: their author may have a reason. It is told all the same, because a class decides who makes room
#   for whom. What a controller made is left alone, because its owner names the class.
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
#   why: Pods of another class than the one that is meant for them preempt others, or are preempted.
#   closes: [S23]
#   remediation: Leave priorityClassName out, or have the class declared for these workloads under priorities.classes.
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
		"message": $"{workload.pod_set_name(pod_set)} has priority class {text.excerpt(pod_set.priorityClassName)}, and usher.yaml declares {declared}",
		"remedy": "leave priorityClassName out",
	}
}
