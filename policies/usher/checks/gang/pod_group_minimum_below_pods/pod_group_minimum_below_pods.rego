# METADATA
# title: A PodGroup waits for all pods of training
# description: |
#   A PodGroup starts as soon as `minMember` pods fit. Below the number of pods that name it, a training job starts with a part
#   of them, which hold their accelerators and wait for the rest. Without `minMember` it is no gang at all.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH527
#   about: cluster facts
#   severity: medium
#   why: The job starts with some of its GPUs, and keeps them idle until the others come.
#   closes: [S24, S26]
#   remediation: |
#     Set `minMember` of the PodGroup to the number of the pods that name it. A job whose pods do not wait for each other can say
#     so by the label gpu-usher.io/role: batch.
package usher.checks.gang.pod_group_minimum_below_pods

import data.usher.lib.text

deny contains finding if {
	input.workload.role == "training"
	some group in input.cluster.volcano.groups
	group.minimum < group.least

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} starts with {group.minimum} of the {group.least} pods that name it",
		"remedy": $"set its minMember to {group.least}",
	}
}
