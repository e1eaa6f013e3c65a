# METADATA
# title: Priorities are given by classes
# description: |
#   The number in `priority` is for Kubernetes to fill in from the class. When a pod comes with a number other than that
#   of its class, which is 0 without class, it is refused, so a template with one makes no pods at all. Beside a class
#   the number is right if it happens to be that of the class; on Pods Kubernetes has filled in both.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#pod-priority
#     description: Kubernetes on how pods get their priority
#   - ref: https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/priority/admission.go
#     description: What refuses such pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH607
#   about: pods
#   severity: high
#   why: The API server refuses every pod of this template, one after the other.
#   closes: [S23]
#   remediation: Remove `priority`, and name a priority class in `priorityClassName`.
package usher.checks.priority.priority_number_by_hand

import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	pod_set.priority != 0
	pod_set.priorityClassName == ""

	finding := {
		"path": workload.field_path(pod_set, "priority"),
		"message": $"{workload.pod_set_name(pod_set)} sets priority {pod_set.priority} without a class, so its pods are refused",
		"remedy": "remove priority, and name a priority class",
	}
}

unknown contains {"path": path, "reason": reason} if {
	input.workload.kind != "Pod"
	some pod_set in input.podSets
	pod_set.priority
	pod_set.priorityClassName != ""
	path := workload.field_path(pod_set, "priority")
	reason := $"whether priority class {pod_set.priorityClassName} has the value {pod_set.priority} is not known here; with any other its pods are refused"
}
