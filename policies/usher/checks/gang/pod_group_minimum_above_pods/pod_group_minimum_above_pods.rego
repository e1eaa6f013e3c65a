# METADATA
# title: A PodGroup waits for no more pods than there are
# description: |
#   A PodGroup starts once as many pods as its `minMember` says are there. Where the workload that names it makes fewer, they
#   wait for pods that nobody makes, unless another workload names the same group, which is not known here. Pods that
#   somebody makes one by one are left alone.
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
#   why: The gang waits for pods that nobody makes.
#   closes: [S26]
#   remediation: |
#     Set `minMember` of the PodGroup to the number of the pods that name it.
package usher.checks.gang.pod_group_minimum_above_pods

import data.usher.lib.text

deny contains finding if {
	input.workload.kind != "Pod"
	some group in input.cluster.volcano.groups
	group.minimum > group.most

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} waits for {group.minimum} pods, and the workload makes {group.most} that name it",
		"remedy": $"set its minMember to {group.most}",
		"assumption": "no other workload names this PodGroup",
	}
}
