# METADATA
# title: A quota of the namespace counts the accelerators of the workload
# description: |
#   A namespace that uses accelerators without a quota for them may take the whole cluster. A ResourceQuota counts each
#   resource name separately. A quota for requests.nvidia.com/gpu does not count MIG slices, shares and device claims. A
#   quota with a scope counts only pods of that scope, so pods of another PriorityClass have no limit. A limit of zero
#   for a resource also counts.
#
#   A GPUQuota counts every route: `slices` counts all devices, and `gpus` counts whole ones. So does a quota of
#   usher.yaml, which usher charges wherever it watches a cluster.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas for extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1225
#   about: cluster facts
#   severity: low
#   why: One namespace may take the accelerators of all others.
#   closes: [S17, S28]
#   remediation: |
#     Make a GPUQuota for the namespace (docs/quota.md). Or make a ResourceQuota without scopes that names every
#     accelerator resource of the namespace, with 0 for the ones that it must not use.
package usher.checks.tenancy.no_quota_counts_accelerators

deny contains finding if {
	not input.workload.owned
	some uncounted in input.cluster.resourceQuotas.uncounted

	finding := {
		"path": uncounted.path,
		"message": $"no ResourceQuota and no GPUQuota of the namespace counts {uncounted.name} for these pods, so they have no limit",
		"remedy": "have it added to a GPUQuota or a ResourceQuota of the namespace",
	}
}
