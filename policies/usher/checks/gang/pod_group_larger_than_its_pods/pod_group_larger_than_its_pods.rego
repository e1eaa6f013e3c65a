# METADATA
# title: A PodGroup does not wait for more pods than are made by hand for it
# description: |
#   Volcano starts no pod of a group before `minMember` of them exist. If a file holds a PodGroup and pods that name it,
#   usher counts the pods. The check ignores a group that a controller of the same file makes pods for, and pods that
#   have finished. Another file may hold more pods of the group, so the finding only warns. A review sees no other
#   objects, so only `usher check` and `usher audit` find this.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minMember
# schemas:
#   - input: schema.input
# custom:
#   code: USH550
#   about: objects
#   kinds: [volcanoPodGroup]
#   severity: medium
#   why: The gang waits for pods that never exist.
#   closes: [S26]
#   remediation: Set `minMember` of the PodGroup to the number of pods that name it.
package usher.checks.gang.pod_group_larger_than_its_pods

deny contains finding if {
	minimum := input.object.volcanoPodGroup.spec.minMember
	minimum > input.beside.pods

	finding := {
		"path": "/spec/minMember",
		"message": $"the group waits for {minimum} pods, but only {_pods} beside it, so no pod of the group ever starts",
		"remedy": $"set minMember to {input.beside.pods}, or make the other pods",
		"assumption": "usher assumes that no other pods name this PodGroup",
	}
}

_pods := "1 pod names it" if input.beside.pods == 1

_pods := $"{input.beside.pods} pods name it" if input.beside.pods != 1
