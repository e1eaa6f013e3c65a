# METADATA
# title: Priority classes stay below their ceiling
# description: |
#   A PriorityClass may have a value of 1000000000 at most, above are only those of the system; the API server refuses
#   others. Below that, whoever may make classes can outrank everybody. Where a site sets a lower ceiling, only
#   administrators and controllers may go above it, in a WorkloadPriorityClass of Kueue as well; who they are, `identities`
#   in usher.yaml says. In CI nobody asks, so the ceiling of the site does not count there.
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
#   why: Who makes a class of his own above all others evicts whom he likes.
#   closes: [S22, S23]
#   parameters:
#     maximum:
#       default: 2147483647
#       description: Highest value of a class that no administrator or controller makes; as it stands, any.
#   remediation: |
#     Give the class a lower value, or have an administrator make it.
package usher.checks.objects.priority_class_value_too_high

import data.usher.lib.parameters
import data.usher.lib.priority

_most_of_all := 1000000000

deny contains finding if {
	class := input.object.priorityClass
	class.value > _most_of_all
	not startswith(object.get(class, ["metadata", "name"], ""), "system-")
	finding := _finding(class.value, "is the most that the API server takes", _most_of_all)
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

_finding(value, who, maximum) := {
	"path": "/value",
	"message": $"value {value} is above {maximum}, which {who}",
	"remedy": $"set value to {maximum} at most",
}
