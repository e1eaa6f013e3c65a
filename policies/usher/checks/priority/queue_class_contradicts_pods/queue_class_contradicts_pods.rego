# METADATA
# title: The queue class and the pod class rank a workload alike
# description: |
#   A workload in Kueue may have two classes. A WorkloadPriorityClass sets its position in the queue. The PriorityClass
#   of its pods decides which pods the scheduler evicts. Kubernetes never compares the two values, but their orders
#   should agree. If Kueue admits a workload first and the scheduler evicts it first, the workload holds quota that its
#   pods cannot use. The check reports only a certain contradiction of the two orders. It compares with the two classes
#   that usher.yaml gives to these workloads, and with names that exist as classes of both kinds.
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
#   remediation: Choose two classes of the same rank, or have the values of the classes set in the same order.
package usher.checks.priority.queue_class_contradicts_pods

import data.usher.lib.priority

deny contains finding if {
	own := input.cluster.priorities.contradiction.own
	other := input.cluster.priorities.contradiction.other

	finding := {
		"path": priority.workload_class_path,
		"message": $"queue class {_with_value(own.inQueue)} ranks {_compared(own.inQueue, other.inQueue)} {_with_value(other.inQueue)}, but its pods' class {_pods(own)} ranks {_compared(own.ofPods, other.ofPods)} {_with_value(other.ofPods)}",
		"remedy": "choose two classes of the same rank",
	}
}

_with_value(class) := $"{class.name} ({class.value})"

_pods(own) := _with_value(own.ofPods) if own.ofPods.name != ""

_pods(own) := $"(no class, {own.ofPods.value})" if own.ofPods.name == ""

_compared(one, other) := "above" if one.value > other.value

else := "below"
