# METADATA
# title: A PodGroup has more than one member
# description: |
#   `minMember` is the number of pods of a PodGroup that start together. With 1 or 0, each pod starts as soon as it
#   fits, as without a group. The check skips groups that a controller made: Volcano makes these for every pod without a
#   group. It also skips groups that count by tasks or by subgroups.
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
#   why: The group looks like a gang, but half of its pods may hold GPUs and wait.
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
		"message": $"minMember is {members}, so Volcano places the pods of the group one by one and not as a gang",
		"remedy": "set minMember to the number of pods that start together",
	}
}
