# METADATA
# title: Workloads and PodGroups name only Volcano queues of their namespace
# description: |
#   Volcano's queues belong to no namespace, so every workload that names a queue uses its quota. A PodGroup takes the
#   quota of its queue, whatever its pods say. If usher.yaml lists the queues of a namespace, a workload or a PodGroup
#   there may name no other queue. Without a queue it goes to the queue `default`. The API server writes `default` into
#   Volcano Jobs and PodGroups, so add `default` to the list if it is allowed. Without a list every queue is allowed.
#   Administrators, controllers and schedulers may make PodGroups in every queue; `identities` in usher.yaml lists them.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH512
#   aliases: [USH1425, pod-group-queue-not-allowed]
#   about: accelerator pods
#   kinds: [volcanoPodGroup]
#   severity: high
#   why: One word in a manifest takes the GPUs of another team.
#   closes: [B32]
#   parameters:
#     allowed:
#       default: []
#       description: Volcano queues that workloads and PodGroups may name. An empty list allows all queues.
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

_places contains {"path": "/spec/queue", "queue": input.object.volcanoPodGroup.spec.queue} if not _trusted

_trusted if {
	some identity in input.review.by
	identity in ["administrators", "controllers", "schedulers"]
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
