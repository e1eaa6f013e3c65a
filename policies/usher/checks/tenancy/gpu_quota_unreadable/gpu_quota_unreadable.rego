# METADATA
# title: usher can read a GPUQuota
# description: |
#   An amount of a GPUQuota is a whole number or thousandths: `16`, `"3500m"`. The API server refuses other amounts,
#   fields that a GPUQuota does not have, and a quota without limits or namespaces. usher cannot enforce a quota that it
#   cannot read. The check names each place, so that CI fails before the API server does. Another check reports unknown
#   units.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#     description: Kubernetes on quantities
# schemas:
#   - input: schema.input
# custom:
#   code: USH1235
#   about: objects
#   kinds: [gpuQuota]
#   severity: high
#   why: A quota that cannot be read limits nothing.
#   closes: [S17, S28]
#   remediation: Correct the named field. docs/quota.md shows all fields of a GPUQuota.
package usher.checks.tenancy.gpu_quota_unreadable

deny contains finding if {
	some problem in input.object.gpuQuota.spec.problems
	not problem.path in _unknown_units

	finding := {
		"path": problem.path,
		"message": $"usher cannot read the quota: {problem.reason}",
		"remedy": "correct this field; until then the quota limits nothing",
	}
}

deny contains finding if {
	input.object.gpuQuota
	not input.object.gpuQuota.spec

	finding := {
		"path": "",
		"message": "usher cannot read the quota: it has no spec",
		"remedy": "set spec.limits, and spec.namespaces or spec.namespaceSelector",
	}
}

_unknown_units contains $"/spec/limits/{index}/hard/{escaped}" if {
	some index, limit in input.object.gpuQuota.spec.limits
	some name, unit in limit.hard
	not unit.known
	escaped := replace(replace(name, "~", "~0"), "/", "~1")
}
