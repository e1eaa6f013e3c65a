# METADATA
# title: Kueue does not admit only a part of a gang
# description: |
#   With the annotation kueue.x-k8s.io/job-min-parallelism, Kueue may start a Job with fewer pods than it asks for. If a
#   gang needs more pods, the started pods hold GPUs and wait for pods that are never created. Volcano places no pods
#   until as many exist as scheduling.volcano.sh/group-min-member says. The processes of a distributed training wait for
#   each other. If the gang can run with the smaller number of pods, partial admission is fine. A Volcano PodGroup
#   itself says how many pods it needs, so this is unknown here.
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
#   why: The job uses its quota and never starts to work.
#   closes: [S24]
#   remediation: |
#     Remove the annotation kueue.x-k8s.io/job-min-parallelism, or lower the minimum of the gang to its value.
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
		"message": $"Kueue may start only {least} of this Job's {input.workload.pods.maximum} pods, but Volcano places no pods until {wanted} exist",
		"remedy": $"remove {_minimum}, or set {_min_member} to {least}",
	}
}

deny contains finding if {
	least := _least
	input.workload.gang.wanted
	input.workload.gang.formedBy == ""

	finding := {
		"path": _path,
		"message": $"Kueue may start only {least} of this training's {input.workload.pods.maximum} pods, and they wait for the others",
		"remedy": $"remove {_minimum}",
	}
}

unknown contains {
	"path": _path,
	"reason": $"usher does not know the minMember of PodGroup {group}, so the group may wait for more than the {least} pods that Kueue starts",
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
