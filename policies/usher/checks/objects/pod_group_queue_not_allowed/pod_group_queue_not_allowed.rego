# METADATA
# title: PodGroups name the Volcano queues of their namespace
# description: |
#   Volcano's queues belong to no namespace, and a PodGroup takes the quota of the queue that it names, whatever its pods
#   say. Where a site lists the queues of a namespace, a PodGroup there may name no other. Into one that names none the
#   API server writes the queue `default`, so the list has to hold that where it is allowed. Administrators, controllers
#   and schedulers make groups as they like; who they are, `identities` in usher.yaml says. Without a list every queue is
#   allowed. The queues that workloads name are for another check.
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
#       description: Volcano queues that PodGroups may name; without any, all of them.
#   remediation: |
#     Name a queue of your namespace, or have the queue allowed in usher.yaml (parameters, pod-group-queue-not-allowed,
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
		"message": $"Volcano queue {text.excerpt(queue)} is not for this namespace",
		"remedy": $"name one of its queues: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.objects.pod_group_queue_not_allowed.allowed

_trusted if {
	some identity in input.review.by
	identity in {"administrators", "controllers", "schedulers"}
}
