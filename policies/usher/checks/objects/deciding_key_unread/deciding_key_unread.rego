# METADATA
# title: Nothing important hangs on a key that nothing reads
# description: |
#   Kubernetes drops a field that its kind does not have, and kubectl refuses the object. With `resource:`, `limit:` or
#   `conatiners:` the pods get no GPU, or there are no pods. usher compares the fields of an object with those of its kind,
#   as the OpenAPI of Kubernetes and the CustomResourceDefinitions of operators publish them. This check has the fields
#   on which an amount of GPUs, a container, a toleration, a selector or a queue hangs. It also has pod templates
#   without containers, kinds with a misspelt name or with the apiVersion of another kind, and misspelt labels of queues,
#   gangs and nodes. In a cluster the API server does this itself, so usher asks there only about fields of kinds whose
#   definition keeps unknown ones. Definitions in the files of the run, and then those of the facts, win over the ones
#   that usher knows. Nothing is found where a kind takes any field, except in objects and pod specs inside it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
#     description: Kubernetes on unknown fields
# schemas:
#   - input: schema.input
# custom:
#   code: USH1481
#   about: unread keys
#   severity: high
#   why: The object is refused, or its pods start without what its author wrote.
#   closes: []
#   remediation: Correct the name of the field, or move it to the place where the kind has it.
package usher.checks.objects.deciding_key_unread

deny contains finding if {
	some each in input.unreadKeys
	not each.topic
	not each.dangling
	not each.refused
	each.important

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
