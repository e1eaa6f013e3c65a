# METADATA
# title: Quotas of accelerators are whole numbers
# description: |
#   Devices are counted whole. The API server takes a quota of 0.5 or 1500m of one nevertheless, and counts against it:
#   the fraction is of no use to anybody, and 0.5 is none at all. Shares of a GPU have resources of their own.
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
#   why: A team with half a GPU in its quota gets none.
#   closes: [S28]
#   remediation: Write a whole number; for shares, cap the resource that is a share, such as requests.nvidia.com/gpu.shared.
package usher.checks.objects.quota_of_a_fraction

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	startswith(name, "requests.")
	contains(name, "/")
	not amount.whole

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"{trim_prefix(name, "requests.")} is counted whole, so a quota of {amount.text} is one of {amount.value - 1}",
		"remedy": "write a whole number",
	}
}
