# METADATA
# title: Device claims say how many accelerators they take
# description: |
#   With allocationMode All a claim takes every device of its class that a node has: eight GPUs on one node, one on
#   another, whatever the pod can use. It waits until all of them are free, quotas charge it the most that a claim may
#   have, and Kueue refuses it. Admin access, which takes no device from anybody, is for another check; network cards and
#   other devices that are no accelerators are free. A class that nobody has described is left open: the parameter
#   deviceClasses can name those of accelerators.
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
#   why: It takes every GPU of a node, and no quota can tell how many that are.
#   closes: [B11]
#   parameters:
#     deviceClasses:
#       default: []
#       description: Device classes of accelerators of this cluster, beside the known ones.
#   remediation: Use allocationMode ExactCount with the count that the pod can use.
package usher.checks.objects.claim_of_all_devices

import data.usher.lib.device_claims
import data.usher.lib.parameters

deny contains finding if {
	some entry in _takes_all
	_accelerators(entry.asked)

	finding := {
		"path": $"{entry.path}/allocationMode",
		"message": $"request {entry.name} takes every {entry.asked.deviceClassName} device that a node has, however many these are",
		"remedy": "set allocationMode to ExactCount, with a count",
	}
}

unknown contains {
	"path": $"{entry.path}/deviceClassName",
	"reason": $"whether request {entry.name} takes every accelerator of a node depends on the device class {entry.asked.deviceClassName}, which nobody has described",
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
