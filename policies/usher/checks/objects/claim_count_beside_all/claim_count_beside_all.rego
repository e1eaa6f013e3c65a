# METADATA
# title: A device claim sets either allocationMode All or a count
# description: |
#   allocationMode All and a count contradict each other, so the API server refuses the claim. A count of 0 means no
#   count.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device claims
# schemas:
#   - input: schema.input
# custom:
#   code: USH1418
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: high
#   why: The API server refuses the claim, and no pod that uses it starts.
#   closes: [B11]
#   remediation: Remove allocationMode to get the number of devices in count, or remove count.
package usher.checks.objects.claim_count_beside_all

import data.usher.lib.device_claims

deny contains finding if {
	some entry in device_claims.asked
	entry.asked.allocationMode == "All"
	number := entry.asked.count
	number != 0

	finding := {
		"path": $"{entry.path}/count",
		"message": $"request {entry.name} sets both count {number} and allocationMode All, so the API server refuses it",
		"remedy": "remove allocationMode, or count",
	}
}
