# METADATA
# title: Priority classes are not above the configured maximum
# description: |
#   The API server refuses a PriorityClass with a value above 1000000000, except system classes. Below that, a user who
#   may make classes can outrank everybody. A site can set a lower maximum. Then only administrators and controllers may
#   exceed it, also in a WorkloadPriorityClass of Kueue; `identities` in usher.yaml lists them. In CI the user is
#   unknown, so the maximum of the site does not apply there.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#priorityclass
#     description: Kubernetes on priority classes
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1401
#   about: objects
#   kinds: [priorityClass, workloadPriorityClass]
#   severity: high
#   why: A user with an own class above all others can evict any workload.
#   closes: [S22, S23]
#   parameters:
#     maximum:
#       default: 2147483647
#       description: |
#         Highest value of a class that a user other than an administrator or a controller may make; the default allows
#         every value.
#   remediation: Give the class a lower value, or ask an administrator to make it.
package usher.checks.objects.priority_class_value_too_high

import data.usher.lib.parameters
import data.usher.lib.priority

_most_of_all := 1000000000

deny contains finding if {
	class := input.object.priorityClass
	class.value > _most_of_all
	not startswith(object.get(class, ["metadata", "name"], ""), "system-")
	finding := _finding(class.value, "is the maximum of the API server", _most_of_all)
}

deny contains finding if {
	value := _class.value
	maximum := parameters.objects.priority_class_value_too_high.maximum
	value > maximum
	input.review
	not priority.asked_by_administration
	not _refused
	finding := _finding(value, "only administrators may exceed", maximum)
}

_class := input.object.priorityClass

_class := input.object.workloadPriorityClass

_refused if input.object.priorityClass.value > _most_of_all

_finding(value, reason, maximum) := {
	"path": "/value",
	"message": $"value {value} is above {maximum}, which {reason}",
	"remedy": $"set value to at most {maximum}",
}
