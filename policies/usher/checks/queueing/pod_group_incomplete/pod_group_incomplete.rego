# METADATA
# title: A pod group has a name and a number of pods
# description: |
#   Kueue admits plain pods together when they carry the same kueue.x-k8s.io/pod-group-name, and it has to know how many
#   to wait for: kueue.x-k8s.io/pod-group-total-count, a whole number of 1 or more, on every one of them. Its webhooks
#   refuse a pod with one of the two, or with a number that is none. On a template it is the pods that are refused, when
#   a controller makes them.
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
		"message": $"{workload.pod_set_name(pod_set)} is in pod group {text.excerpt(group)} and does not say how many pods that has, so Kueue refuses it",
		"remedy": $"set the annotation {_total} to the number of pods of the whole group",
	}
}

deny contains finding if {
	some pod_set in input.podSets
	total := pod_set.annotations[_total]
	not _named(pod_set)

	finding := {
		"path": kueue.annotation_path(pod_set, _total),
		"message": $"{workload.pod_set_name(pod_set)} has {_total} {text.excerpt(total)} and names no pod group, so Kueue refuses it",
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
		"message": $"{workload.pod_set_name(pod_set)}: {_total} {text.excerpt(total)} is no whole number of 1 or more, so Kueue refuses it",
		"remedy": "set it to the number of pods of the whole group",
	}
}

# Newer versions of Kueue read the annotation first, all of them the label.
_named(pod_set) := [kueue.annotation_path(pod_set, _group), pod_set.annotations[_group]] if {
	pod_set.annotations[_group] != ""
} else := [$"{pod_set.metadataPath}/labels/{kueue.escaped(_group)}", pod_set.labels[_group]] if {
	pod_set.labels[_group] != ""
}

_is_total(total) if kueue.whole_number(total) >= 1
