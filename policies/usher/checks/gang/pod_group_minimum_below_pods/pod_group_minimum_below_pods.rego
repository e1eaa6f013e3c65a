# METADATA
# title: minMember of a PodGroup counts all pods of a training job
# description: |
#   A PodGroup starts as soon as `minMember` pods fit. If `minMember` is below the number of pods that name the group, a
#   training job starts with a part of them. Those pods hold their accelerators and wait for the rest. Without
#   `minMember` the pods do not form a gang.
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
#   why: The job starts with some of its GPUs, and they stay idle until the others arrive.
#   closes: [S24, S26]
#   remediation: |
#     Set `minMember` of the PodGroup to the number of pods that name it. If the pods do not wait for each other, set
#     the label gpu-usher.io/role: batch.
package usher.checks.gang.pod_group_minimum_below_pods

import data.usher.lib.text
import data.usher.lib.volcano

deny contains finding if {
	input.workload.role == "training"
	some group in volcano.groups
	group.minimum < group.least

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} can start with only {group.minimum} of the {group.least} pods that name it",
		"remedy": $"set {group.field} of the PodGroup to {group.least}",
	}
}
