# METADATA
# title: A gang is not admitted in part
# description: |
#   With the annotation kueue.x-k8s.io/job-min-parallelism Kueue may start a Job with fewer pods than it asks for. A gang
#   that needs more of them then holds GPUs and waits for pods that nobody makes: Volcano places none until there are as
#   many as scheduling.volcano.sh/group-min-member says, and the processes of a distributed training wait for each other.
#   Where the gang is content with as few, partial admission is fine. How many a PodGroup of Volcano wants stands in
#   the PodGroup, so that is unknown here.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/#partial-admission
#     description: Kueue on partial admission
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH417
#   about: labelled pods
#   severity: medium
#   why: The job takes up its quota and never begins to work.
#   closes: [S24]
#   remediation: |
#     Remove the annotation kueue.x-k8s.io/job-min-parallelism, or have the gang need no more pods than it says.
package usher.checks.queueing.partial_admission_of_a_gang

import data.usher.lib.kueue

_minimum := "kueue.x-k8s.io/job-min-parallelism"

_min_member := "scheduling.volcano.sh/group-min-member"

_group_name := "scheduling.k8s.io/group-name"

deny contains finding if {
	least := _least
	_placed_by_volcano
	wanted := kueue.whole_number(input.workload.annotations[_min_member])
	least < wanted

	finding := {
		"path": _path,
		"message": $"Kueue may start {least} of this Job's {input.workload.pods.maximum} pods, and Volcano places none until there are {wanted}",
		"remedy": $"remove {_minimum}, or set {_min_member} to {least}",
	}
}

deny contains finding if {
	least := _least
	input.workload.gang.wanted
	input.workload.gang.formedBy == ""

	finding := {
		"path": _path,
		"message": $"Kueue may start {least} of this training's {input.workload.pods.maximum} pods, which wait for the others",
		"remedy": $"remove {_minimum}",
	}
}

unknown contains {
	"path": _path,
	"reason": $"whether PodGroup {group} begins with {least} of its pods is not known here: its minMember says it",
} if {
	least := _least
	_placed_by_volcano
	some pod_set in input.podSets
	group := pod_set.annotations[_group_name]
}

_least := kueue.whole_number(input.workload.annotations[_minimum]) if {
	input.workload.group == "batch"
	input.workload.kind == "Job"
	kueue.in_queue
}

_placed_by_volcano if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}

_path := $"/metadata/annotations/{kueue.escaped(_minimum)}"
