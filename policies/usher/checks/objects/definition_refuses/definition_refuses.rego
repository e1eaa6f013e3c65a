# METADATA
# title: An object keeps the limits and rules of its definition
# description: |
#   A definition (CRD) asks more of a value than its type: fields that must be there, smallest and largest numbers,
#   lengths, patterns, entries of a list that differ by their keys, and rules in CEL. The API server refuses an object
#   that breaks one of them. usher compares objects with the definition in the same files or in the facts. Without one it
#   takes the one that it has recorded, names its repository and commit, and only warns, because the cluster may have
#   another release. The message of a rule is that of the definition.
#   Of Kubernetes' own kinds usher knows what an API server was seen to refuse: missing fields, numbers, texts and entries
#   that are there twice.
#   Placeholders (`$`, `<`, `{{`) are not compared, nor are rules that compare an object with its earlier state.
#   [objects/value_refused](value_refused.md) is about types and forms.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
#     description: Kubernetes on what definitions ask of objects
#   - ref: https://kubernetes.io/docs/reference/using-api/cel/
#     description: Kubernetes on rules in CEL
# schemas:
#   - input: schema.input
# custom:
#   code: USH1700
#   about: unread keys
#   severity: high
#   why: The API server refuses the object, so nothing of it exists.
#   closes: []
#   remediation: Write what the definition of the kind asks for.
package usher.checks.objects.definition_refuses

deny contains object.union(finding, _assumption(each)) if {
	some each in input.unreadKeys
	each.topic in ["definition", "recorded definition"]

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}

_assumption(each) := {"assumption": "usher assumes that the cluster has the recorded release of the definition"} if {
	each.topic == "recorded definition"
} else := {}
