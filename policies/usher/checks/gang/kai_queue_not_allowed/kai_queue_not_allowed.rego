# METADATA
# title: Workloads name only KAI queues of their namespace
# description: |
#   Queues of KAI-Scheduler belong to no namespace, so every workload that names a queue in the label kai.scheduler/queue
#   uses its quota and its share. If usher.yaml lists the queues of a namespace, a workload may name no other queue. The
#   label counts on the workload and on its pods. Without it, KAI-Scheduler takes the label `project` for the name of the
#   queue, and without both the queue `default-queue`. Without a list every queue is allowed.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on its queues
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/developer/pod-grouper.md
#     description: KAI-Scheduler on where it reads the queue of a pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH529
#   about: labelled pods
#   severity: high
#   why: One label in a manifest takes the GPUs of another team.
#   closes: [B32]
#   parameters:
#     allowed:
#       default: []
#       description: KAI queues that workloads may name. An empty list allows all queues.
#   remediation: |
#     Name a queue of your namespace. Or have the queue allowed in usher.yaml (parameters, kai-queue-not-allowed,
#     allowed).
package usher.checks.gang.kai_queue_not_allowed

import data.usher.lib.kai
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	count(_allowed) > 0
	some queue in kai.queues
	not queue.name in _allowed

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.name)} is not allowed in this namespace",
		"remedy": $"use one of the allowed queues: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.gang.kai_queue_not_allowed.allowed
