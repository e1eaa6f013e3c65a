# METADATA
# title: Only monitoring claims devices with admin access
# description: |
#   A claim with adminAccess gets devices that other pods hold, and counts for no quota. It is made for drivers and
#   exporters of metrics. The API server takes such a claim only in namespaces with the label
#   resource.kubernetes.io/admin-access: "true", and clusters without that rule take it anywhere or drop the field. Which
#   namespaces may do so, usher.yaml names under `isolation.visibleDevices`; system namespaces may. Devices that are known
#   to be no accelerators are free.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access
#     description: Kubernetes on admin access to devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH1416
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: It uses the GPUs of others, and no quota counts it.
#   closes: [B11, B14]
#   remediation: |
#     Remove adminAccess. A namespace of monitoring needs the label resource.kubernetes.io/admin-access and a place in
#     usher.yaml under isolation.visibleDevices.
package usher.checks.objects.claim_with_admin_access

import data.usher.lib.device_claims
import data.usher.lib.isolation

deny contains finding if {
	some entry in device_claims.asked
	entry.asked.adminAccess
	not entry.asked.accelerator == false
	not isolation.may_see_all_devices

	finding := {
		"path": $"{entry.path}/adminAccess",
		"message": $"request {entry.name} has admin access, so it uses devices that others hold and counts for no quota",
		"remedy": "remove adminAccess",
	}
}
