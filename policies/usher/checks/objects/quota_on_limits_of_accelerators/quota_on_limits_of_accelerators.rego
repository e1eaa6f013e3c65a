# METADATA
# title: Quotas count the requests of accelerators
# description: |
#   Of accelerators and all other extended resources Kubernetes counts requests only, because limits are the same. A key
#   such as limits.nvidia.com/gpu is taken without a word, and nothing is ever held against it. Where it stands alone,
#   the namespace has no cap at all.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas of extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1450
#   about: objects
#   kinds: [resourceQuota]
#   severity: medium
#   why: The team believes in a cap that is none.
#   closes: [S28]
#   remediation: Write `requests.` in place of `limits.` before the name of the resource.
package usher.checks.objects.quota_on_limits_of_accelerators

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	startswith(name, "limits.")
	contains(name, "/")
	right := $"requests.{trim_prefix(name, "limits.")}"

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"{name} is never counted, so {amount.text} of it caps nothing",
		"remedy": _remedy(right, amount),
	}
}

_remedy(right, _) := $"remove it; {right} beside it is what counts" if input.object.resourceQuota.spec.hard[right]

_remedy(right, amount) := $"write {right}: {amount.text}" if not input.object.resourceQuota.spec.hard[right]
