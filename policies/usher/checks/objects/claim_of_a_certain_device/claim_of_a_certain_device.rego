# METADATA
# title: Device claims describe devices and do not name one
# description: |
#   A selector on uuid, parentUUID or a serial number picks one certain GPU. The claim waits while this GPU is in use or
#   broken, though others are free. It also lets a user choose whose neighbour to be: beside a certain pod on a shared
#   GPU, or on the GPU that another team is waiting for. Attributes that describe a device, for example productName and
#   memory, leave the choice to the scheduler. The check accepts an exclusion with `!=`, and devices that are not
#   accelerators. A constraint with matchAttribute is not a selector.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on the selectors of device claims
# schemas:
#   - input: schema.input
# custom:
#   code: USH1469
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: The claim waits for one GPU of the cluster, or chooses whose GPU it shares.
#   closes: [B11]
#   remediation: Describe the device by productName, memory or another attribute that several devices share.
package usher.checks.objects.claim_of_a_certain_device

import data.usher.lib.device_claims
import data.usher.lib.isolation

deny contains finding if {
	not isolation.may_see_all_devices
	some entry in device_claims.asked
	not entry.asked.accelerator == false
	some index, selector in entry.asked.selectors
	_names_a_device(selector.cel.expression)

	finding := {
		"path": $"{entry.path}/selectors/{index}/cel/expression",
		"message": $"request {entry.name} picks one certain device by its selector, so the scheduler has no choice",
		"remedy": "select by attributes that several devices share, for example productName",
	}
}

_names_a_device(expression) if {
	some [_, _, comparison] in regex.find_all_string_submatch_n(
		`(?i)\b(uuid|parentuuid|serial|serialnumber)\b["'\])]*\s*(!=)?`,
		expression, -1,
	)
	comparison == ""
}

_names_a_device(expression) if regex.match(`(?i)==\s*["'](GPU|MIG)-[0-9a-f]{8}-`, expression)
