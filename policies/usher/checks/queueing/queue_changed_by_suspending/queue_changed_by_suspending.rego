# METADATA
# title: A running job stays in its queue
# description: |
#   Kueue refuses to change the queue of a job that runs, but not of one that is suspended: a single change that suspends
#   the job and names another queue, or none, passes. The job gives back what it held and goes on at the expense of
#   another quota, or of nobody's once it is released. Controllers and administrators may do it, and the identities that
#   the parameter names. A change of the queue alone is for Kueue to refuse, and a job that joins its first queue is
#   welcome.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/local_queue/
#     description: Kueue on LocalQueues
# schemas:
#   - input: schema.input
# custom:
#   code: USH412
#   about: pods
#   severity: medium
#   why: A job that used up one quota hops on to another.
#   closes: [B32]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may move running jobs, beside administrators and controllers.
#   remediation: |
#     Delete the job and create it in the other queue, or have whoever runs the queues move it.
package usher.checks.queueing.queue_changed_by_suspending

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	before := input.old.labels[kueue.queue_label]
	before != ""
	not input.old.suspended
	input.workload.suspended
	kueue.queued_as_one
	after := object.get(input.workload.labels, kueue.queue_label, "")
	after != before
	not input.workload.owned
	kueue.asked_by_none_of(array.concat(["administrators", "controllers"], _identities))

	finding := {
		"path": _path,
		"message": $"one change suspends the running {input.workload.kind} and moves it from queue {text.excerpt(before)} to {_queue(after)}",
		"remedy": "delete the job and create it in the other queue, or ask whoever runs the queues",
	}
}

_identities := parameters.queueing.queue_changed_by_suspending.identities

_path := kueue.label_path(kueue.queue_label) if {
	input.workload.labels[kueue.queue_label]
} else := "/metadata/labels"

_queue(after) := text.excerpt(after) if after != ""

_queue("") := "none"
