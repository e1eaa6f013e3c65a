# METADATA
# title: The PodGroup that templates name is there
# description: |
#   Pods that name a PodGroup by the annotation scheduling.k8s.io/group-name wait until it exists; Volcano makes none for them.
#   It has to stand in their own namespace. A group that is applied a moment later mends it, so this only warns, unless
#   usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH525
#   about: cluster facts
#   severity: medium
#   why: No pod is placed before the group exists.
#   closes: [S24, S26]
#   remediation: |
#     Create the PodGroup in the namespace of the workload, before the workload or together with it.
package usher.checks.gang.pod_group_not_there

import data.usher.lib.text

deny contains finding if {
	some group in input.cluster.volcano.groups
	group.exists == false

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} is not in this namespace, so none of its pods is placed",
		"remedy": "create the PodGroup in the namespace of the workload",
	}
}

unknown contains {
	"path": group.path,
	"reason": $"whether PodGroup {text.excerpt(group.name)} is there is not known: no PodGroups are among the facts of the cluster",
} if {
	some group in input.cluster.volcano.groups
	not "exists" in object.keys(group)
}

unknown contains {
	"path": group.path,
	"reason": $"minMember of PodGroup {text.excerpt(group.name)} is no number",
} if {
	some group in input.cluster.volcano.groups
	group.exists
	not "minimum" in object.keys(group)
}
