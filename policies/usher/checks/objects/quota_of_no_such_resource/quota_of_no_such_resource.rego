# METADATA
# title: Quotas name accelerators in full
# description: |
#   There is no resource `gpu`: accelerators have the name of their vendor before a slash. What a quota names without one
#   has to be a resource that Kubernetes itself knows, so for gpu, requests.gpu or limits.gpu the API server refuses the
#   whole quota.
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
#   why: The API server refuses the quota, and the namespace has none.
#   closes: [S28]
#   remediation: Write requests. and the full name of the resource, such as requests.nvidia.com/gpu.
package usher.checks.objects.quota_of_no_such_resource

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	not contains(name, "/")
	some word in ["gpu", "tpu", "nvidia"]
	contains(lower(name), word)

	finding := {
		"path": $"/spec/hard/{name}",
		"message": $"there is no resource {name}, so the API server refuses the whole quota",
		"remedy": $"write the full name, such as requests.nvidia.com/gpu: {amount.text}",
	}
}
