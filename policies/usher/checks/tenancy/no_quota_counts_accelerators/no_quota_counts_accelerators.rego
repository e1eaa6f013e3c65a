# METADATA
# title: A quota counts the accelerators of the workload
# description: |
#   A namespace that uses accelerators and has no quota for them may take all that the cluster has. A ResourceQuota counts
#   every resource name by itself: one of requests.nvidia.com/gpu counts no slices of MIG, no shares and no device claims,
#   and one with a scope counts only pods of that scope, so that pods of another PriorityClass have no bound. A limit of
#   zero for a resource counts as well. A GPUQuota counts by any route: its `slices` all devices, its `gpus` whole ones. So
#   does a quota of usher.yaml, which the webhooks charge in the cluster.
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
#     Have a GPUQuota hold for the namespace (docs/quota.md), or give it a ResourceQuota without scopes that names every
#     accelerator resource it may use, with 0 for those that it may not.
package usher.checks.tenancy.no_quota_counts_accelerators

deny contains finding if {
	not input.workload.owned
	some uncounted in input.cluster.resourceQuotas.uncounted

	finding := {
		"path": uncounted.path,
		"message": $"neither a ResourceQuota nor a GPUQuota of the namespace counts {uncounted.name} for these pods, so nothing bounds them",
		"remedy": "have it counted by a GPUQuota, or by a ResourceQuota of the namespace",
	}
}
