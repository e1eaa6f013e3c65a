# METADATA
# title: Slices have both a topology and a size
# description: |
#   Kueue cuts the pods of a template into slices of podset-slice-size pods. It places each slice in one domain of the
#   level that podset-slice-required-topology names. One annotation without the other is incomplete, and Kueue's
#   webhooks refuse it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on slices
# schemas:
#   - input: schema.input
# custom:
#   code: USH421
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Set both annotations on the pod template, or neither.
package usher.checks.queueing.topology_slice_half_described

import data.usher.lib.kueue
import data.usher.lib.workload

_halves := [
	[kueue.slice_topology, kueue.slice_size],
	[kueue.slice_size, kueue.slice_topology],
]

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	some [present, missing] in _halves
	pod_set.annotations[present]
	not pod_set.annotations[missing]

	# Beside the constraints for several levels another check finds it, and adding the other half does not help.
	not pod_set.annotations[kueue.slice_constraints]

	finding := {
		"path": kueue.annotation_path(pod_set, present),
		"message": $"{workload.pod_set_name(pod_set)} has {present} without {missing}, so Kueue refuses it",
		"remedy": $"set {missing} too, or remove {present}",
	}
}
