# METADATA
# title: Pods set a priority class, not a priority number
# description: |
#   Kubernetes fills in the number in `priority` from the class. It refuses a pod whose number differs from the value of
#   its class (0 without a class). A template with a wrong number therefore makes no pods. A number beside a class is
#   right only if it equals the value of the class. On Pods, Kubernetes has filled in both.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#pod-priority
#     description: Kubernetes on how pods get their priority
#   - ref: https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/priority/admission.go
#     description: The admission plugin that refuses these pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH607
#   about: pods
#   severity: high
#   why: The API server refuses every pod of this template.
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
		"message": $"{workload.pod_set_name(pod_set)} sets priority {pod_set.priority} without a class, so the API server refuses the pods",
		"remedy": "remove priority, and name a priority class",
	}
}

unknown contains {"path": path, "reason": reason} if {
	input.workload.kind != "Pod"
	some pod_set in input.podSets
	pod_set.priority
	pod_set.priorityClassName != ""
	path := workload.field_path(pod_set, "priority")
	reason := $"usher does not know whether priority class {pod_set.priorityClassName} has the value {pod_set.priority}; if not, the API server refuses the pods"
}
