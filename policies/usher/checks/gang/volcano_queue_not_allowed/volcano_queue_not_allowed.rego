# METADATA
# title: Workloads name only Volcano queues of their namespace
# description: |
#   Volcano's queues belong to no namespace, so every workload that names a queue uses its quota. If usher.yaml lists
#   the queues of a namespace, a workload may name no other queue. A workload without a queue goes to the queue
#   `default`. The API server writes `default` into Volcano Jobs, so add `default` to the list if it is allowed. Without
#   a list every queue is allowed. Another check looks at the queue of a PodGroup.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH512
#   about: accelerator pods
#   severity: high
#   why: One word in a manifest takes the GPUs of another team.
#   closes: [B32]
#   parameters:
#     allowed:
#       default: []
#       description: Volcano queues that workloads may name. An empty list allows all queues.
#   remediation: |
#     Name a queue of your namespace. Or have the queue allowed in usher.yaml (parameters, volcano-queue-not-allowed,
#     allowed).
package usher.checks.gang.volcano_queue_not_allowed

import data.usher.lib.kubeflow
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.volcano

deny contains finding if {
	count(_allowed) > 0
	some place in _places
	place.queue != ""
	not place.queue in _allowed

	finding := {
		"path": place.path,
		"message": $"Volcano queue {text.excerpt(place.queue)} is not allowed in this namespace",
		"remedy": $"use one of the allowed queues: {concat(", ", _allowed)}",
	}
}

_allowed := parameters.gang.volcano_queue_not_allowed.allowed

_annotation := "annotations/scheduling.volcano.sh~1queue-name"

_places contains {"path": $"{volcano.job_spec_path}/queue", "queue": volcano.job_spec.queue}

_places contains {"path": input.workload.gangPlaces.queue, "queue": kubeflow.scheduling_policy.queue}

_places contains {"path": "/metadata/labels/volcano.sh~1queue-name", "queue": queue} if {
	input.workload.group == "ray.io"
	queue := input.workload.labels["volcano.sh/queue-name"]
}

_places contains {"path": $"/metadata/{_annotation}", "queue": input.workload.annotations[volcano.queue_annotation]}

_places contains {"path": $"{pod_set.metadataPath}/{_annotation}", "queue": queue} if {
	some pod_set in input.podSets
	queue := pod_set.annotations[volcano.queue_annotation]
}
