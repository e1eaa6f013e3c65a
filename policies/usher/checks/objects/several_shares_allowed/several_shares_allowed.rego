# METADATA
# title: The device plugin refuses requests for several shares
# description: |
#   A container that asks for several time slices gets access to GPUs that others use as well, perhaps to one of them
#   twice, and no more of it. With failRequestsGreaterThanOne the device plugin says so and the pod fails with a reason;
#   without it the container starts, and finds fewer devices or less memory than its author thinks. For MPS the device
#   plugin refuses them by itself, unless it is told not to.
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
#   why: Whoever asks for several shares thinks that they get several GPUs, and nobody tells them.
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
		"message": $"the configuration {text.excerpt(share.key)} lets containers ask for several shares, by sharing.{share.way}",
		"remedy": $"set sharing.{share.way}.failRequestsGreaterThanOne to true",
	}
}

_default := {"timeSlicing": false, "mps": true}
