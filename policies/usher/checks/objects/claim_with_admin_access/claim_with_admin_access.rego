# METADATA
# title: Only monitoring claims devices with admin access
# description: |
#   A claim with adminAccess gets devices that other pods hold, and no quota counts it. It is meant for drivers and
#   metrics exporters. The API server accepts it only in namespaces with the label resource.kubernetes.io/admin-access:
#   "true". Another check lets only administrators set this label. Clusters without that rule accept the claim everywhere
#   or drop the field. usher.yaml lists allowed namespaces under `isolation.visibleDevices`; system namespaces are also
#   allowed. As long as usher.yaml does not set this list, usher cannot tell monitoring from other namespaces, so the
#   check only warns. It accepts devices that are known not to be accelerators.
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
#   severity: high
#   why: It uses the GPUs of other pods, and no quota counts it.
#   closes: [B11, B14]
#   remediation: |
#     Remove adminAccess. A monitoring namespace needs the label resource.kubernetes.io/admin-access and an entry in
#     usher.yaml under isolation.visibleDevices.
package usher.checks.objects.claim_with_admin_access

import data.usher.lib.device_claims
import data.usher.lib.isolation

deny contains object.union(finding, _assumption) if {
	some entry in device_claims.asked
	entry.asked.adminAccess
	not entry.asked.accelerator == false
	not isolation.may_see_all_devices

	finding := {
		"path": $"{entry.path}/adminAccess",
		"message": $"request {entry.name} has admin access, so it uses devices of other pods and no quota counts it",
		"remedy": "remove adminAccess",
	}
}

_assumption := {} if input.site.visibleDevicesDeclared

_assumption := {"assumption": "usher assumes that the namespace is not one for monitoring, because usher.yaml does not set isolation.visibleDevices"} if {
	not input.site.visibleDevicesDeclared
}
