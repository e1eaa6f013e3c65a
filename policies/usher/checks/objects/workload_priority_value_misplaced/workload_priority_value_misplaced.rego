# METADATA
# title: A WorkloadPriorityClass has its value at the top
# description: |
#   Kueue's WorkloadPriorityClass has no spec: `value` stands at the top level, as in a PriorityClass. An object with
#   `spec.value` instead is refused by an API server that validates strictly, for `value` is required; with validation
#   relaxed the number is dropped without a word.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1404
#   about: objects
#   kinds: [workloadPriorityClass]
#   severity: high
#   why: The class is refused, or every workload of it has priority 0.
#   closes: [S22]
#   remediation: Move `value` from `spec` to the top level of the object.
package usher.checks.objects.workload_priority_value_misplaced

deny contains finding if {
	value := input.object.workloadPriorityClass.spec.value

	finding := {
		"path": "/spec/value",
		"message": $"a WorkloadPriorityClass has no spec, so the value {value} is not read",
		"remedy": $"write value: {value} at the top level",
	}
}
