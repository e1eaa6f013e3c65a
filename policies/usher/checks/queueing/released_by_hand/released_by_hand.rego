# METADATA
# title: Only controllers release a queued job
# description: |
#   Kueue holds a job back by suspending it and lets it go when there is quota. Whoever sets suspend to false by hand
#   starts the pods without any: Kueue suspends the job again, but until then they hold the GPUs of somebody else. That
#   is found on a job that is in a queue, or was in one before the same change took the label away. Controllers and
#   administrators may do it. Name the identity as which Kueue runs in the parameter identities; as long as it is empty,
#   a finding rests on the assumption that Kueue is among the controllers, and only warns. What a controller made is
#   left alone.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/admission/
#     description: Kueue on how a job is admitted
# schemas:
#   - input: schema.input
# custom:
#   code: USH411
#   about: pods
#   severity: medium
#   why: The job takes GPUs that Kueue has promised to others.
#   closes: [B33]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may release jobs, beside administrators and controllers.
#   remediation: |
#     Leave suspend alone and wait until Kueue admits the job, or give the job a higher priority class.
package usher.checks.queueing.released_by_hand

import data.usher.lib.kueue
import data.usher.lib.parameters

deny contains object.union(finding, _assumption) if {
	input.old.suspended
	not input.workload.suspended
	kueue.queued_as_one
	queue := _queue
	not input.workload.owned
	kueue.asked_by_none_of(array.concat(["administrators", "controllers"], _identities))

	finding := {
		"path": _suspend,
		"message": $"the {input.workload.kind} is released by hand, although it is for queue {queue} to admit it",
		"remedy": "leave suspend as it is, and wait until Kueue admits the job",
	}
}

_identities := parameters.queueing.released_by_hand.identities

_queue := queue if {
	queue := kueue.queue_name
} else := queue if {
	queue := input.old.labels[kueue.queue_label]
	queue != ""
}

_suspend := "/spec/runPolicy/suspend" if {
	input.workload.group in {"kubeflow.org", "sagemaker.amazonaws.com"}
} else := "/spec/suspend"

default _assumption := {}

_assumption := {"assumption": "Kueue is among the controllers that usher.yaml knows"} if _identities == []
