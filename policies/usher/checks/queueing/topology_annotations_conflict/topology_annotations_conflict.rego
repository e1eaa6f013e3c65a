# METADATA
# title: Kueue's topology annotations do not exclude each other
# description: |
#   A pod template asks Kueue for one kind of placement: all pods in one required domain, in one preferred domain, or
#   anywhere (unconstrained). Slices need podset-slice-required-topology with podset-slice-size, or the constraints for
#   several levels. A template that Kueue places together with another template (podset-group-name) has no slices.
#   Kueue's webhooks refuse a template or a Pod with two annotations that exclude each other.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH408
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: Keep only the annotation that the job needs.
package usher.checks.queueing.topology_annotations_conflict

import data.usher.lib.kueue
import data.usher.lib.workload

_exclusive := [
	[kueue.required_topology, kueue.preferred_topology],
	[kueue.required_topology, kueue.unconstrained_topology],
	[kueue.preferred_topology, kueue.unconstrained_topology],
	[kueue.slice_constraints, kueue.slice_topology],
	[kueue.slice_constraints, kueue.slice_size],
	[kueue.pod_set_group, kueue.slice_topology],
	[kueue.pod_set_group, kueue.slice_size],
	[kueue.pod_set_group, kueue.slice_constraints],
]

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	some [one, other] in _exclusive
	pod_set.annotations[one]
	pod_set.annotations[other]

	finding := {
		"path": kueue.annotation_path(pod_set, other),
		"message": $"{workload.pod_set_name(pod_set)} has both {one} and {other}, which exclude each other, so Kueue refuses it",
		"remedy": "remove one of them",
	}
}
