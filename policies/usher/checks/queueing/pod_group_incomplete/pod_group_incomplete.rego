# METADATA
# title: A pod group has both a name and a pod count
# description: |
#   Kueue admits plain pods together if they carry the same kueue.x-k8s.io/pod-group-name. It must know how many pods to
#   wait for: every pod needs kueue.x-k8s.io/pod-group-total-count, a whole number of at least 1. Kueue's webhooks
#   refuse a pod with only one of the two, or with an invalid number. For a template, they refuse the pods that a
#   controller makes from it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/#running-a-group-of-pods-to-be-admitted-together
#     description: Kueue on groups of plain pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH409
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the pods, and a controller makes them again and again.
#   closes: [S24]
#   remediation: |
#     Set the label kueue.x-k8s.io/pod-group-name and the annotation kueue.x-k8s.io/pod-group-total-count on every pod
#     of the group.
package usher.checks.queueing.pod_group_incomplete

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

_group := "kueue.x-k8s.io/pod-group-name"

_total := "kueue.x-k8s.io/pod-group-total-count"

deny contains finding if {
	some pod_set in input.podSets
	[path, group] := _named(pod_set)
	not pod_set.annotations[_total]

	finding := {
		"path": path,
		"message": $"{workload.pod_set_name(pod_set)} is in pod group {text.excerpt(group)} but does not set the pod count of the group, so Kueue refuses it",
		"remedy": $"set the annotation {_total} to the number of pods of the whole group",
	}
}

deny contains finding if {
	some pod_set in input.podSets
	total := pod_set.annotations[_total]
	not _named(pod_set)

	finding := {
		"path": kueue.annotation_path(pod_set, _total),
		"message": $"{workload.pod_set_name(pod_set)} has {_total} {text.excerpt(total)} but names no pod group, so Kueue refuses it",
		"remedy": $"set the label {_group} to the name of the group",
	}
}

deny contains finding if {
	some pod_set in input.podSets
	total := pod_set.annotations[_total]
	_named(pod_set)
	not _is_total(total)

	finding := {
		"path": kueue.annotation_path(pod_set, _total),
		"message": $"{workload.pod_set_name(pod_set)}: {_total} {text.excerpt(total)} is not a whole number of at least 1, so Kueue refuses it",
		"remedy": "set it to the number of pods of the whole group",
	}
}

# Newer versions of Kueue read the annotation first; all versions read the label.
_named(pod_set) := [kueue.annotation_path(pod_set, _group), pod_set.annotations[_group]] if {
	pod_set.annotations[_group] != ""
} else := [$"{pod_set.metadataPath}/labels/{kueue.escaped(_group)}", pod_set.labels[_group]] if {
	pod_set.labels[_group] != ""
}

_is_total(total) if kueue.whole_number(total) >= 1
