# METADATA
# title: Quotas use the full names of accelerators
# description: |
#   A resource `gpu` does not exist: the names of accelerators start with a vendor and a slash. In a quota, a name
#   without a slash must be a resource of Kubernetes itself. The API server therefore refuses the whole quota for gpu,
#   requests.gpu or limits.gpu.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas of extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1453
#   about: objects
#   kinds: [resourceQuota]
#   severity: high
#   why: The API server refuses the quota, so the namespace has no quota.
#   closes: [S28]
#   remediation: Write `requests.` and the full name of the resource, for example requests.nvidia.com/gpu.
package usher.checks.objects.quota_of_no_such_resource

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	not contains(name, "/")
	some word in ["gpu", "tpu", "nvidia"]
	contains(lower(name), word)

	finding := {
		"path": $"/spec/hard/{name}",
		"message": $"the resource {name} does not exist, so the API server refuses the whole quota",
		"remedy": $"write the full name, for example requests.nvidia.com/gpu: {amount.text}",
	}
}
