# METADATA
# title: A pod set group has two pod sets, one of them with a single pod
# description: |
#   The annotation podset-group-name places two templates of a job in one domain: a leader and its workers. Kueue's
#   webhooks refuse a group that has one template or more than two. They also refuse a group if neither template makes a
#   single pod. Each group of a LeaderWorkerSet has exactly one leader, whatever the number of groups, so for this kind
#   the check counts only the templates.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology-aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH423
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S9]
#   remediation: |
#     Name the group on the template of the leader and on the template of its workers, and on no other template.
package usher.checks.queueing.pod_set_group_of_wrong_members

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some group, members in _groups
	count(members) != 2
	pod_set := members[0]

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.pod_set_group),
		"message": $"pod set group {text.excerpt(group)} consists of {_names(members)}, but Kueue accepts only groups of exactly 2 pod sets",
		"remedy": "name the group on the leader and its workers only",
	}
}

deny contains finding if {
	some group, members in _groups
	input.workload.kind != "LeaderWorkerSet"
	count(members) == 2
	every pod_set in members {
		pod_set.pods.minimum > 1
	}
	pod_set := members[0]

	finding := {
		"path": kueue.annotation_path(pod_set, kueue.pod_set_group),
		"message": $"pod set group {text.excerpt(group)}: neither of {_names(members)} has a single pod, so Kueue refuses it",
		"remedy": "give one of the two a single pod, or place them separately",
	}
}

_groups[group] := members if {
	kueue.judges_groups
	some leader in kueue.topology_pod_sets
	group := leader.annotations[kueue.pod_set_group]
	members := [pod_set |
		some pod_set in kueue.topology_pod_sets
		pod_set.annotations[kueue.pod_set_group] == group
	]
}

_names(members) := concat(" and ", [workload.pod_set_name(pod_set) | some pod_set in members])
