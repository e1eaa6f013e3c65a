# METADATA
# title: The device plugin refuses requests for several shares
# description: |
#   A container that asks for several time slices gets access to shared GPUs, perhaps twice to the same one, and not
#   more of a GPU. With failRequestsGreaterThanOne, the device plugin refuses this, and the pod fails with a reason.
#   Without it the container starts and has fewer devices or less memory than its author expects. For MPS the device
#   plugin refuses several shares by default.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
#     description: NVIDIA's device plugin on requests for more than one share
# schemas:
#   - input: schema.input
# custom:
#   code: USH1449
#   about: objects
#   kinds: [configMap]
#   severity: low
#   why: Users who ask for several shares expect several GPUs and get no warning.
#   closes: [S15, B43]
#   remediation: Set failRequestsGreaterThanOne to true.
package usher.checks.objects.several_shares_allowed

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	count(share.said.resources) > 0
	not object.get(share.said, "failRequestsGreaterThanOne", _default[share.way])

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} allows requests for several shares with sharing.{share.way}",
		"remedy": $"set sharing.{share.way}.failRequestsGreaterThanOne to true",
	}
}

_default := {"timeSlicing": false, "mps": true}
