# METADATA
# title: Every key of an object is read
# description: |
#   Kubernetes drops a field that its kind does not have, and kubectl refuses the object. A misspelt field thus has no
#   effect, and so has a field of another version. This check has the fields that
#   [objects/deciding_key_unread](deciding_key_unread.md) leaves out, because no amount of GPUs, container, toleration,
#   selector or queue hangs on them.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
#     description: Kubernetes on unknown fields
# schemas:
#   - input: schema.input
# custom:
#   code: USH1482
#   about: unread keys
#   severity: medium
#   why: kubectl refuses the object, and other clients apply it without the field.
#   closes: []
#   remediation: Correct the name of the field, or remove it.
package usher.checks.objects.key_unread

deny contains finding if {
	some each in input.unreadKeys
	not each.topic
	not each.dangling
	not each.important

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
