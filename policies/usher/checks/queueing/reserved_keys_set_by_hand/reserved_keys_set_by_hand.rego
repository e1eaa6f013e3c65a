# METADATA
# title: Keys that Kueue sets are not set by hand
# description: |
#   Kueue marks the pods that it admits: with the labels kueue.x-k8s.io/podset, cluster-queue-name, local-queue-name and
#   managed, and with the annotations workload and role-hash. Set by hand they claim an admission that never was: the
#   usage of a team is booked on another queue, pods of different sizes are counted as alike, and whoever trusts the
#   marks is deceived. They often come from the manifest of a running job, used anew. It is told when an object is
#   created by somebody who is neither a controller nor an administrator. What Kueue's own webhooks add to pods and some
#   templates in the same moment cannot be told apart and is left alone, and so is what a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
#     description: Kueue on its labels and annotations
# schemas:
#   - input: schema.input
# custom:
#   code: USH419
#   about: labelled pods
#   severity: medium
#   why: Pods count as admitted, or on somebody else's quota, that never were.
#   closes: [B31]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may set them, beside administrators and controllers.
#   remediation: |
#     Remove the keys, and write manifests from scratch rather than from a running job.
package usher.checks.queueing.reserved_keys_set_by_hand

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

_labels := [
	"kueue.x-k8s.io/cluster-queue-name",
	"kueue.x-k8s.io/local-queue-name",
	"kueue.x-k8s.io/podset",
]

# Kueue's webhooks set it on pods and on the templates of these kinds.
_managed := ["kueue.x-k8s.io/managed"] if {
	not input.workload.kind in {"Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"}
} else := []

# Kueue's webhook sets the second one on pods.
_annotations := ["kueue.x-k8s.io/workload"] if {
	input.workload.kind == "Pod"
} else := ["kueue.x-k8s.io/workload", "kueue.x-k8s.io/role-hash"]

deny contains finding if {
	_by_hand
	some place in _places
	some kind, keys in {"label": array.concat(_labels, _managed), "annotation": _annotations}
	some key in keys
	value := place[kind][key]

	finding := {
		"path": $"{place.path}/{kind}s/{kueue.escaped(key)}",
		"message": $"the {kind} {key} {text.excerpt(value)} is for Kueue to set when it admits the workload",
		"remedy": "remove it",
	}
}

_by_hand if {
	input.review.operation == "CREATE"
	not input.workload.owned
	identities := parameters.queueing.reserved_keys_set_by_hand.identities
	kueue.asked_by_none_of(array.concat(["administrators", "controllers"], identities))
}

_places := array.concat(
	[{"path": "/metadata", "label": input.workload.labels, "annotation": input.workload.annotations}],
	[place |
		some pod_set in input.podSets
		place := {"path": pod_set.metadataPath, "label": pod_set.labels, "annotation": pod_set.annotations}
	],
)
