# METADATA
# title: A slice has at least one pod, and no more pods than the template makes
# description: |
#   The annotation podset-slice-size is the number of pods that must be in one domain. Kueue's webhooks refuse a value
#   that is not a whole number or is less than 1. They also refuse a slice of more pods than the template makes, because
#   no placement could fill it. For a plain Pod and the pods of a Deployment, the check judges only the number itself,
#   because other pods belong to the same group.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on slices
# schemas:
#   - input: schema.input
# custom:
#   code: USH422
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Set podset-slice-size to a whole number from 1 to the number of pods.
package usher.checks.queueing.topology_slice_size_invalid

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	size := pod_set.annotations[kueue.slice_size]
	not _is_size(size)

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.slice_size),
		"message": $"{workload.pod_set_name(pod_set)}: {kueue.slice_size} {text.excerpt(size)} is not a whole number of at least 1, so Kueue refuses it",
		"remedy": "set it to the number of pods that must be in one domain",
	}
}

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	size := pod_set.annotations[kueue.slice_size]
	kueue.queued_as_one
	kueue.whole_number(size) > pod_set.pods.maximum

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.slice_size),
		"message": $"{workload.pod_set_name(pod_set)} has slices of {size} pods, but makes at most {pod_set.pods.maximum} pods, so Kueue refuses it",
		"remedy": $"set {kueue.slice_size} to {pod_set.pods.maximum} or less",
	}
}

_is_size(size) if kueue.whole_number(size) >= 1
