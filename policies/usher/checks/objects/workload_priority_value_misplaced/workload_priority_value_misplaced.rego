# METADATA
# title: A WorkloadPriorityClass sets value at the top level
# description: |
#   Kueue's WorkloadPriorityClass has no spec. `value` is at the top level, as in a PriorityClass. An API server with
#   strict validation refuses an object with `spec.value` instead, because `value` is required. With relaxed validation
#   it drops the number without an error.
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
#   why: The API server refuses the class, or every workload of it has priority 0.
#   closes: [S22]
#   remediation: Move `value` from `spec` to the top level of the object.
package usher.checks.objects.workload_priority_value_misplaced

deny contains finding if {
	value := input.object.workloadPriorityClass.spec.value

	finding := {
		"path": "/spec/value",
		"message": $"a WorkloadPriorityClass has no spec, so Kueue does not read the value {value}",
		"remedy": $"write value: {value} at the top level",
	}
}
