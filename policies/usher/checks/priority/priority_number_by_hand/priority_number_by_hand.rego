# METADATA
# title: Pods set a priority class, not a priority number
# description: |
#   Kubernetes fills in the number in `priority` from the class. It refuses a pod whose number differs from the value of
#   its class (0 without a class). A template with a wrong number therefore makes no pods. A number beside a class is
#   right only if it equals the value of the class. On Pods, Kubernetes has filled in both. The same holds for
#   `preemptionPolicy`: it comes from the class, and another one in the template is refused.
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
#   remediation: Remove `priority` and `preemptionPolicy`, and name a priority class in `priorityClassName`.
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

deny contains object.union(finding, assumption) if {
	not input.workload.owned
	some pod_set in input.podSets
	[from, assumption] := _other_policy(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "preemptionPolicy"),
		"message": $"{workload.pod_set_name(pod_set)} sets preemptionPolicy {pod_set.preemptionPolicy}, but {from} has another one, so the API server refuses the pods",
		"remedy": "remove preemptionPolicy, and name a class that has it",
	}
}

_other_policy(pod_set) := [$"priority class {pod_set.priorityClassName}", {}] if {
	class := input.cluster.priorities.classes[pod_set.priorityClassName]
	class.preempts != _preempts[pod_set.preemptionPolicy]
}

_other_policy(pod_set) := ["a pod without a class", {"assumption": "usher assumes that no class with this policy is the default"}] if {
	pod_set.priorityClassName == ""
	pod_set.preemptionPolicy == "Never"
	not input.cluster.priorities["default"].preempts == false
	object.get(input.site, "globalDefaultPriority", "") == ""
}

_preempts := {"Never": false, "PreemptLowerPriority": true}

unknown contains {"path": path, "reason": reason} if {
	input.workload.kind != "Pod"
	some pod_set in input.podSets
	pod_set.priority
	pod_set.priorityClassName != ""
	path := workload.field_path(pod_set, "priority")
	reason := $"usher does not know whether priority class {pod_set.priorityClassName} has the value {pod_set.priority}; if not, the API server refuses the pods"
}
