# METADATA
# title: Device claims have their fields where their version has them
# description: |
#   Up to resource.k8s.io/v1beta1 a request has deviceClassName, allocationMode, count and adminAccess in itself; from
#   v1beta2 on it has them in `exactly`. A claim that was moved from one version to another by its first line alone is
#   refused, because its request asks for nothing; beside an `exactly`, what stands in the request is dropped without a
#   word, unless the API server validates strictly.
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
#   why: The claim is refused, or asks for less than it says.
#   closes: [B11, B39]
#   remediation: |
#     From v1beta2 on, write name and `exactly` in the request, and all other fields in `exactly`; in v1beta1 write them in
#     the request, without `exactly`.
package usher.checks.objects.claim_fields_of_another_version

import data.usher.lib.device_claims

_fields := ["adminAccess", "allocationMode", "count", "deviceClassName"]

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
		"message": $"request {entry.name} has {concat(" and ", misplaced)} outside exactly, where {device_claims.version} reads no such field",
		"remedy": "move it into exactly",
	}
}

deny contains finding if {
	some entry in device_claims.requests
	entry.request.exactly
	device_claims.version == "v1beta1"

	finding := {
		"path": $"{entry.path}/exactly",
		"message": $"request {entry.name} has exactly, which v1beta1 does not know",
		"remedy": "write its fields in the request, or use apiVersion resource.k8s.io/v1",
	}
}
