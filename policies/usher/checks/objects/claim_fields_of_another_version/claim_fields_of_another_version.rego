# METADATA
# title: Device claims use the fields of their API version
# description: |
#   Up to resource.k8s.io/v1beta1, a request has deviceClassName, count, selectors and the like directly. From
#   v1beta2 on, they are in `exactly`. If somebody changes only apiVersion of a claim, the API server refuses it,
#   because its request asks for no device. If the request also has an `exactly`, the API server drops the fields outside
#   it without an error, unless it validates strictly.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device claims
# schemas:
#   - input: schema.input
# custom:
#   code: USH1417
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: high
#   why: The API server refuses the claim, or the claim asks for less than its author wrote.
#   closes: [B11, B39]
#   remediation: |
#     From v1beta2 on, write only name and `exactly` in the request, and all other fields in `exactly`. In v1beta1 write
#     them in the request, without `exactly`.
package usher.checks.objects.claim_fields_of_another_version

import data.usher.lib.device_claims

_fields := ["adminAccess", "allocationMode", "capacity", "count", "deviceClassName", "selectors", "tolerations"]

deny contains finding if {
	some entry in device_claims.requests
	device_claims.version != "v1beta1"
	misplaced := [field |
		some field in _fields
		field in object.keys(entry.request)
	]
	misplaced != []

	finding := {
		"path": $"{entry.path}/{misplaced[0]}",
		"message": $"request {entry.name} has {concat(", ", misplaced)} outside exactly, but {device_claims.version} reads only fields in exactly",
		"remedy": "move it into exactly",
	}
}

deny contains finding if {
	some entry in device_claims.requests
	entry.request.exactly
	device_claims.version == "v1beta1"

	finding := {
		"path": $"{entry.path}/exactly",
		"message": $"request {entry.name} has exactly, which v1beta1 does not support",
		"remedy": "write its fields in the request, or use apiVersion resource.k8s.io/v1",
	}
}
