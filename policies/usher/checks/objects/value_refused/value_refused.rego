# METADATA
# title: Every value is one that its field takes
# description: |
#   The API server refuses an object with a text where a number belongs (`completions: "2"`), a number where a text belongs
#   (`value: 8` of a variable), a list where an object belongs, or a text that its field does not know
#   (`restartPolicy: never`). usher compares values with the same fields as
#   [objects/deciding_key_unread](deciding_key_unread.md). Definitions of operators copy the pod spec without the texts that
#   its fields take, so there the pods are refused; usher knows the same parts of a pod spec (tolerations, containers,
#   volumes) by their fields in every kind, also where a kind takes any field. The form of names, labels, amounts, ports,
#   percentages and durations is compared too (`storage: 1TiB`, `name: My_Job`). Values with `$`, `<` or `{{` are placeholders, which usher does not
#   compare, and so are capitals with underscores (`replicas: NUM_NODES`) where no text belongs. It also refuses a
#   Deployment whose selector does not fit its own template, a schedule without five fields, and pods of a Job that
#   would restart for ever, which is the default.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
#     description: Kubernetes on fields and their values
# schemas:
#   - input: schema.input
# custom:
#   code: USH1483
#   about: unread keys
#   severity: high
#   why: The API server refuses the object, or the pods that it makes.
#   closes: []
#   remediation: Write a value that the field takes.
package usher.checks.objects.value_refused

deny contains finding if {
	some each in input.unreadKeys
	each.refused

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
