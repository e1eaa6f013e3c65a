# METADATA
# title: minMember of a PodGroup is not larger than the number of its pods
# description: |
#   A PodGroup starts once it has `minMember` pods. If the workload that names it makes fewer pods, they wait for pods
#   that never exist. Another workload may name the same group, but usher does not know that here. The check ignores
#   workloads of the kind Pod.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH526
#   about: cluster facts
#   severity: medium
#   why: The gang waits for pods that never exist.
#   closes: [S26]
#   remediation: Set `minMember` of the PodGroup to the number of pods that name it.
package usher.checks.gang.pod_group_minimum_above_pods

import data.usher.lib.text
import data.usher.lib.volcano

deny contains finding if {
	some group in input.cluster.podGroups.named
	some above in group.above
	above.minimum > above.groups

	finding := {
		"path": group.path,
		"message": $"CompositePodGroup {text.excerpt(above.name)} above PodGroup {text.excerpt(group.name)} waits for {above.minimum} groups, but only {above.groups} {_name[above.groups == 1]} it",
		"remedy": $"set minGroupCount of the CompositePodGroup to {above.groups}, or create the other groups",
		"assumption": "usher assumes that no other groups name this CompositePodGroup",
	}
}

_name := {true: "names", false: "name"}

deny contains finding if {
	input.workload.kind != "Pod"
	some group in volcano.groups
	group.minimum > group.most

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} waits for {group.minimum} pods, but the workload makes only {group.most} that name it",
		"remedy": $"set {group.field} of the PodGroup to {group.most}",
		"assumption": "usher assumes that no other workload names this PodGroup",
	}
}
