# METADATA
# title: Only controllers release a queued job
# description: |
#   Kueue holds a job back by suspending it, and releases it when there is quota. A user who sets suspend to false
#   starts the pods without quota. Kueue suspends the job again, but until then the pods hold GPUs of other jobs. The
#   check looks at jobs in a queue, and at jobs that were in a queue before the same change removed the label.
#   Controllers and administrators may release jobs. List the identity of Kueue in the parameter identities. While the
#   parameter is empty, usher assumes that Kueue is one of the controllers, and the finding only warns. The check skips
#   objects that a controller made.
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
#       description: Identities of usher.yaml that may release jobs, in addition to administrators and controllers.
#   remediation: Do not change suspend; wait until Kueue admits the job. Or give the job a higher priority class.
package usher.checks.queueing.released_by_hand

import data.usher.lib.kueue
import data.usher.lib.parameters

deny contains object.union(finding, _assumption) if {
	input.old.suspended
	not input.workload.suspended
	kueue.queued_as_one
	queue := _queue
	not input.workload.owned
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], _identities))

	finding := {
		"path": _suspend,
		"message": $"the {input.workload.kind} is released by hand, but Kueue must first admit it through queue {queue}",
		"remedy": "do not change suspend, and wait until Kueue admits the job",
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
	input.workload.group in ["kubeflow.org", "sagemaker.amazonaws.com"]
} else := "/spec/suspend"

default _assumption := {}

_assumption := {"assumption": "usher assumes that Kueue is one of the controllers in usher.yaml"} if _identities == []
