# METADATA
# title: A running job stays in its queue
# description: |
#   Kueue refuses to change the queue of a job that runs, but not of a suspended job. One change can therefore suspend
#   the job and name another queue or no queue. The job gives back its quota and continues at the expense of another
#   quota, or of no quota once it is released. Controllers, administrators and the identities of the parameter may make
#   this change. Kueue itself refuses a change of the queue alone. A job without a queue may join its first queue.
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
#   why: A job that used up one quota moves to another quota.
#   closes: [B32]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may move running jobs, in addition to administrators and controllers.
#   remediation: Delete the job and create it in the other queue, or ask the administrator of the queues to move it.
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
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], _identities))

	finding := {
		"path": _path,
		"message": $"one change suspends the running {input.workload.kind} and moves it from queue {text.excerpt(before)} to {_queue(after)}",
		"remedy": "delete the job and create it in the other queue, or ask the administrator of the queues",
	}
}

_identities := parameters.queueing.queue_changed_by_suspending.identities

_path := kueue.label_path(kueue.queue_label) if {
	input.workload.labels[kueue.queue_label]
} else := "/metadata/labels"

_queue(after) := text.excerpt(after) if after != ""

_queue("") := "no queue"
