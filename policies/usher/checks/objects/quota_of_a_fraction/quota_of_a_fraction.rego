# METADATA
# title: Quotas of accelerators are whole numbers
# description: |
#   Kubernetes counts devices as whole numbers. The API server accepts a quota of 0.5 or 1500m nevertheless and compares
#   the use with it. The fraction has no effect: 0.5 allows no device. Shares of a GPU are separate resources.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas of extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1454
#   about: objects
#   kinds: [resourceQuota]
#   severity: medium
#   why: A team with half a GPU in its quota gets no GPU.
#   closes: [S28]
#   remediation: |
#     Write a whole number. For shares, limit the resource of the share, for example requests.nvidia.com/gpu.shared.
package usher.checks.objects.quota_of_a_fraction

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	startswith(name, "requests.")
	contains(name, "/")
	not amount.whole

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"{trim_prefix(name, "requests.")} counts in whole numbers, so a quota of {amount.text} allows only {amount.value - 1}",
		"remedy": "write a whole number",
	}
}
