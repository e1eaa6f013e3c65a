# METADATA
# title: MPS shares whole GPUs only
# description: |
#   MPS shares GPUs that are not divided. A device plugin whose configuration shares by MPS and has the MIG strategy
#   `mixed` does not start; and a MIG profile among the resources that MPS should share is shared by nothing. Slices can
#   be shared by time-slicing.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-mps
#     description: NVIDIA's device plugin on MPS
# schemas:
#   - input: schema.input
# custom:
#   code: USH1446
#   about: objects
#   kinds: [configMap]
#   severity: high
#   why: The device plugin does not start, and the nodes lose all their GPUs.
#   closes: [S19]
#   remediation: |
#     Share by sharing.timeSlicing on nodes that MIG divides, or keep a configuration with MPS for nodes that it does
#     not.
package usher.checks.objects.mps_on_mig

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	share.way == "mps"
	some resource in share.said.resources
	operators.is_mig(resource)

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares {text.excerpt(resource.name)} by MPS, which shares whole GPUs only",
		"remedy": "share slices by sharing.timeSlicing",
	}
}

deny contains finding if {
	some share in operators.shares
	share.way == "mps"
	share.configuration.flags.migStrategy == "mixed"
	some resource in share.said.resources
	resource.replicas > 1

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares by MPS under the MIG strategy mixed, with which the device plugin does not start",
		"remedy": "share by sharing.timeSlicing, or use another strategy in this configuration",
		"assumption": "neither the operator nor an argument of the device plugin sets another MIG strategy",
	}
}
