# METADATA
# title: A pod set group names its topology level
# description: |
#   The annotation podset-group-name says which two templates Kueue places together. The annotation
#   podset-required-topology or podset-preferred-topology says in which level. Kueue's webhooks refuse a template with a
#   group but without a level. They also refuse a group whose two templates name different levels.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH424
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Set the same podset-required-topology or podset-preferred-topology on both templates of the group.
package usher.checks.queueing.pod_set_group_without_topology

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

_levels := [kueue.required_topology, kueue.preferred_topology]

deny contains finding if {
	some pod_set in kueue.topology_pod_sets
	group := pod_set.annotations[kueue.pod_set_group]
	not _has_level(pod_set)

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.pod_set_group),
		"message": $"{workload.pod_set_name(pod_set)} is in pod set group {text.excerpt(group)}, but has neither {kueue.required_topology} nor {kueue.preferred_topology}, so Kueue refuses it",
		"remedy": "name the level that the group requires or prefers",
	}
}

deny contains finding if {
	kueue.judges_groups
	some index, pod_set in kueue.topology_pod_sets
	group := pod_set.annotations[kueue.pod_set_group]
	_has_level(pod_set)
	some level in _levels
	some before, other in kueue.topology_pod_sets
	before < index
	other.annotations[kueue.pod_set_group] == group
	_has_level(other)
	object.get(pod_set.annotations, level, "") != object.get(other.annotations, level, "")

	finding := {
		"path": kueue.annotation_path(pod_set, level),
		"message": $"{workload.pod_set_name(pod_set)} and {workload.pod_set_name(other)} of pod set group {text.excerpt(group)} differ in {level}, so Kueue refuses them",
		"remedy": "name the same level on both",
	}
}

_has_level(pod_set) if {
	some level in _levels
	pod_set.annotations[level]
}
