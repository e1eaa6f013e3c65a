# METADATA
# title: Users do not set the keys that Kueue sets
# description: |
#   Kueue marks the pods that it admits with the labels kueue.x-k8s.io/podset, cluster-queue-name, local-queue-name and
#   managed, and with the annotations workload and role-hash. If a user sets them, they claim an admission that did not
#   happen. Another queue then gets the usage of a team, Kueue counts pods of different sizes as equal, and tools that
#   trust the keys are wrong. The keys often come from the copied manifest of a running job. The check looks at objects
#   that a user creates who is neither a controller nor an administrator. Kueue's own webhooks add some keys to pods and
#   to some templates at the same moment. The check cannot distinguish these keys, so it skips them. It also skips
#   objects that a controller made.
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
#   why: Pods that Kueue never admitted count as admitted, or use the quota of another team.
#   closes: [B31]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may set these keys, in addition to administrators and controllers.
#   remediation: Remove the keys. Do not copy manifests from a running job.
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
	not input.workload.kind in ["Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"]
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
		"message": $"the {kind} {key} {text.excerpt(value)} is set by hand, but only Kueue sets it when it admits the workload",
		"remedy": "remove it",
	}
}

_by_hand if {
	input.review.operation == "CREATE"
	not input.workload.owned
	identities := parameters.queueing.reserved_keys_set_by_hand.identities
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], identities))
}

_places := array.concat(
	[{"path": "/metadata", "label": input.workload.labels, "annotation": input.workload.annotations}],
	[place |
		some pod_set in input.podSets
		place := {"path": pod_set.metadataPath, "label": pod_set.labels, "annotation": pod_set.annotations}
	],
)
