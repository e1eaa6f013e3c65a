# METADATA
# title: The PodGroup that templates name exists
# description: |
#   Pods that name a PodGroup in the annotation scheduling.k8s.io/group-name wait until it exists. Volcano does not make
#   it for them. The PodGroup must be in the namespace of the pods. The check only warns unless usher.yaml says
#   otherwise, because the PodGroup may be applied a moment later.
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
#   why: Volcano places no pod before the PodGroup exists.
#   closes: [S24, S26]
#   remediation: Create the PodGroup in the namespace of the workload, before the workload or together with it.
package usher.checks.gang.pod_group_not_there

import data.usher.lib.text
import data.usher.lib.volcano

deny contains finding if {
	some group in volcano.groups
	group.exists == false
	not _name_dropped(group)

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} does not exist in this namespace, so {group.of} does not place its pods",
		"remedy": "create the PodGroup in the namespace of the workload",
	}
}

deny contains finding if {
	some group in input.cluster.podGroups.named
	some above in group.above
	above.exists == false

	finding := {
		"path": group.path,
		"message": $"CompositePodGroup {text.excerpt(above.name)} above PodGroup {text.excerpt(group.name)} does not exist in this namespace, so {group.of} does not place its pods",
		"remedy": "create the CompositePodGroup in the namespace of the workload",
	}
}

# Another check reports that the API server drops the name, and that the pods do not wait.
_name_dropped(group) if {
	group.of == "the scheduler of Kubernetes"
	input.cluster.podGroups.served == false
}

unknown contains {
	"path": group.path,
	"reason": $"usher does not know whether PodGroup {text.excerpt(group.name)} exists: the facts of the cluster contain no PodGroups",
} if {
	some group in volcano.groups
	not "exists" in object.keys(group)
}

unknown contains {
	"path": group.path,
	"reason": $"minMember of PodGroup {text.excerpt(group.name)} is not a number",
} if {
	some group in input.cluster.volcano.groups
	group.exists
	not "minimum" in object.keys(group)
}
