# METADATA
# title: Quotas count the requests of accelerators, not their limits
# description: |
#   Kubernetes counts only requests of accelerators and other extended resources, because their limits are equal. The
#   API server accepts a key like limits.nvidia.com/gpu, but never compares anything with it. If the quota has only this
#   key, the namespace has no limit. HAMi 2.7 and later counts the memory and the cores of shares by keys like
#   limits.nvidia.com/gpumem, so the check skips these keys.
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
#   why: The team expects a limit that does not exist.
#   closes: [S28]
#   remediation: Write `requests.` instead of `limits.` before the name of the resource.
package usher.checks.objects.quota_on_limits_of_accelerators

import data.usher.lib.sharing

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	startswith(name, "limits.")
	contains(name, "/")
	not sharing.counted_by_hami(trim_prefix(name, "limits."))
	right := $"requests.{trim_prefix(name, "limits.")}"

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"Kubernetes never counts {name}, so {amount.text} of it limits nothing",
		"remedy": _remedy(right, amount),
	}
}

_remedy(right, _) := $"remove it; only {right} counts" if input.object.resourceQuota.spec.hard[right]

_remedy(right, amount) := $"write {right}: {amount.text}" if not input.object.resourceQuota.spec.hard[right]
