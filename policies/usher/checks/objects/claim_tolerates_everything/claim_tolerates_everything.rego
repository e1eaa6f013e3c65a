# METADATA
# title: Every toleration of a device claim names its taint
# description: |
#   Drivers and administrators taint devices: because they are broken, because they are about to be repaired, or because
#   they are kept for someone. A toleration with operator Exists and no key matches every taint. The claim then takes
#   devices that are kept for others, and jobs start on broken GPUs. The check also looks at devices that usher does not
#   know, and accepts monitoring and system namespaces, which look at broken devices too.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#device-taints-and-tolerations
#     description: Kubernetes on taints of devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH1470
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: No taint keeps the claim off broken GPUs or off the GPUs of other teams.
#   closes: [B11, B18]
#   remediation: Write one toleration with a key for each taint that the devices may have.
package usher.checks.objects.claim_tolerates_everything

import data.usher.lib.device_claims
import data.usher.lib.isolation

deny contains finding if {
	not isolation.may_see_all_devices
	some entry in device_claims.asked
	not entry.asked.accelerator == false
	some index, toleration in entry.asked.tolerations
	object.get(toleration, "key", "") == ""
	toleration.operator == "Exists"

	finding := {
		"path": $"{entry.path}/tolerations/{index}",
		"message": $"request {entry.name} tolerates every taint of a device, so it takes devices that are broken or kept for others",
		"remedy": "name the key of each taint that the devices may have",
	}
}
