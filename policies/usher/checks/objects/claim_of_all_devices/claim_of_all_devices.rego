# METADATA
# title: Device claims set a number of accelerators
# description: |
#   With allocationMode All, a claim takes every device of its class on a node: eight GPUs on one node, one GPU on
#   another. It waits until all of them are free. Quotas charge the largest amount that a claim may have, and Kueue
#   refuses the claim.
#   Another check judges admin access, which takes no device from other pods. The check accepts network cards and other
#   devices that are not accelerators. It reports unknown for device classes that usher does not know; list accelerator
#   classes in the parameter deviceClasses.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device claims
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/
#     description: Kueue on the device claims that it counts
# schemas:
#   - input: schema.input
# custom:
#   code: USH1415
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: The claim takes every GPU of a node, and no quota knows the number.
#   closes: [B11]
#   parameters:
#     deviceClasses:
#       default: []
#       description: Device classes of accelerators in this cluster that usher does not know by default.
#   remediation: Use allocationMode ExactCount with the number of devices that the pod can use.
package usher.checks.objects.claim_of_all_devices

import data.usher.lib.device_claims
import data.usher.lib.parameters

deny contains finding if {
	some entry in _takes_all
	_accelerators(entry.asked)

	finding := {
		"path": $"{entry.path}/allocationMode",
		"message": $"request {entry.name} takes every {entry.asked.deviceClassName} device of a node, whatever their number",
		"remedy": "set allocationMode to ExactCount, with a count",
	}
}

unknown contains {
	"path": $"{entry.path}/deviceClassName",
	"reason": $"request {entry.name} takes every {entry.asked.deviceClassName} device of a node, and usher does not know whether these are accelerators",
} if {
	some entry in _takes_all
	not _accelerators(entry.asked)
	not entry.asked.accelerator == false
}

_takes_all := [entry |
	not input.site.systemNamespace
	some entry in device_claims.asked
	entry.asked.allocationMode == "All"
	not entry.asked.adminAccess
	entry.asked.deviceClassName
]

_accelerators(asked) if asked.accelerator

_accelerators(asked) if asked.deviceClassName in parameters.objects.claim_of_all_devices.deviceClasses
