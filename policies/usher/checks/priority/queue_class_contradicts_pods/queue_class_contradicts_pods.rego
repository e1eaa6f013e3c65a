# METADATA
# title: The queue and the scheduler rank a workload alike
# description: |
#   A workload in Kueue may have two classes: a WorkloadPriorityClass for its place in the queue, and the PriorityClass of
#   its pods, by which the scheduler evicts. Their values are never compared with each other, but their orders should
#   agree: what Kueue admits first and the scheduler evicts first holds quota that its pods cannot use. This is told
#   only where two orders contradict each other for certain: against the two classes that usher.yaml gives to such a
#   workload, and against names that are those of a class of either kind.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH625
#   about: cluster facts
#   severity: medium
#   why: Kueue gives quota to a workload whose pods the scheduler evicts first.
#   closes: [S22, S23]
#   remediation: Choose both classes for the same rank, or have the values of the classes put into one order.
package usher.checks.priority.queue_class_contradicts_pods

import data.usher.lib.priority

deny contains finding if {
	own := input.cluster.priorities.contradiction.own
	other := input.cluster.priorities.contradiction.other

	finding := {
		"path": priority.workload_class_path,
		"message": $"queue class {_told(own.inQueue)} ranks {_compared(own.inQueue, other.inQueue)} {_told(other.inQueue)}, but its pods' class {_pods(own)} ranks {_compared(own.ofPods, other.ofPods)} {_told(other.ofPods)}",
		"remedy": "choose both classes for the same rank",
	}
}

_told(class) := $"{class.name} ({class.value})"

_pods(own) := _told(own.ofPods) if own.ofPods.name != ""

_pods(own) := $"(none, {own.ofPods.value})" if own.ofPods.name == ""

_compared(one, other) := "above" if one.value > other.value

else := "below"
