# METADATA
# title: Pods name their PodGroup in the annotation that Volcano reads
# description: |
#   The pods of a PodGroup name it in the annotation scheduling.k8s.io/group-name. Volcano also defines the key
#   scheduling.volcano.sh/group-name, but neither its scheduler nor its controllers use that key to form a group.
#   Volcano places pods with only that key one by one, each in its own group.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
#   - ref: https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/api/job_info.go
#     description: Where Volcano's scheduler reads the group of a pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH505
#   about: accelerator pods
#   severity: medium
#   why: The pods look like a gang but are not a gang, so half of them may hold GPUs and wait.
#   closes: [S24, S25]
#   remediation: Name the PodGroup in the annotation scheduling.k8s.io/group-name of every pod template.
package usher.checks.gang.group_name_that_nobody_reads

import data.usher.lib.text
import data.usher.lib.volcano
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	group := pod_set.annotations["scheduling.volcano.sh/group-name"]
	group != ""
	object.get(pod_set.annotations, volcano.group_annotation, "") == ""

	finding := {
		"path": $"{pod_set.metadataPath}/annotations/scheduling.volcano.sh~1group-name",
		"message": $"{workload.pod_set_name(pod_set)} names PodGroup {text.excerpt(group)} in scheduling.volcano.sh/group-name, but Volcano does not read this key, so the pods do not form a gang",
		"remedy": $"name the PodGroup in the annotation {volcano.group_annotation}",
	}
}
