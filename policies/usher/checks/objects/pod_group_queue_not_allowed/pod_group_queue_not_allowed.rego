# METADATA
# title: PodGroups use an allowed Volcano queue of their namespace
# description: |
#   Volcano's queues belong to no namespace. A PodGroup takes the quota of its queue, whatever its pods say. A site can
#   list the queues of a namespace; then a PodGroup there may not use another queue. The API server writes the queue
#   `default` into a PodGroup without a queue, so list `default` if it is allowed.
#   Administrators, controllers and schedulers may use every queue; `identities` in usher.yaml lists them. Without a
#   list, every queue is allowed. Another check judges the queues of workloads.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH1425
#   about: objects
#   kinds: [volcanoPodGroup]
#   severity: high
#   why: One word in a manifest takes the GPUs of another team.
#   closes: [B32]
#   parameters:
#     allowed:
#       default: []
#       description: Volcano queues that PodGroups may use; an empty list allows all queues.
#   remediation: |
#     Use a queue of your namespace, or have the queue allowed in usher.yaml (parameters, pod-group-queue-not-allowed,
#     allowed).
package usher.checks.objects.pod_group_queue_not_allowed

import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	count(_allowed) > 0
	queue := input.object.volcanoPodGroup.spec.queue
	queue != ""
	not queue in _allowed
	not _trusted

	finding := {
		"path": "/spec/queue",
		"message": $"Volcano queue {text.excerpt(queue)} is not allowed in this namespace",
		"remedy": $"use one of the allowed queues: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.objects.pod_group_queue_not_allowed.allowed

_trusted if {
	some identity in input.review.by
	identity in {"administrators", "controllers", "schedulers"}
}
