# METADATA
# title: A PodGroup that somebody makes is more than one pod
# description: |
#   `minMember` says how many pods of a PodGroup start together. With 1, or none, each of them starts as soon as there is
#   room for it, as without a group. Groups that a controller made are left alone: Volcano makes such ones for every pod
#   that names none. So are those that count by tasks or by subgroups.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minMember
# schemas:
#   - input: schema.input
# custom:
#   code: USH1422
#   about: objects
#   kinds: [volcanoPodGroup]
#   severity: low
#   why: It looks like a gang, but half of the pods may hold GPUs and wait.
#   closes: [S24, S26]
#   remediation: Set `minMember` to the number of pods that name the group.
package usher.checks.objects.pod_group_of_one

deny contains finding if {
	group := input.object.volcanoPodGroup
	members := object.get(group, ["spec", "minMember"], 0)
	members < 2
	count(object.get(group, ["metadata", "ownerReferences"], [])) == 0
	count(object.get(group, ["spec", "minTaskMember"], {})) == 0
	count(object.get(group, ["spec", "subGroupPolicy"], [])) == 0

	finding := {
		"path": "/spec/minMember",
		"message": $"minMember {members} makes no gang: the pods of the group are placed one by one",
		"remedy": "set minMember to the number of pods that start together",
	}
}
