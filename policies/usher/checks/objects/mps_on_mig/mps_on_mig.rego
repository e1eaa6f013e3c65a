# METADATA
# title: MPS shares only whole GPUs
# description: |
#   MPS shares only GPUs that MIG does not divide. The device plugin does not start if its configuration shares by MPS
#   and sets the MIG strategy `mixed`. It does not share a MIG profile among the resources of MPS. Time-slicing can
#   share slices.
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
#   remediation: Use sharing.timeSlicing on nodes that MIG divides, or use the MPS configuration only on other nodes.
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
		"message": $"the configuration {text.excerpt(share.key)} shares {text.excerpt(resource.name)} by MPS, which shares only whole GPUs",
		"remedy": "share slices with sharing.timeSlicing",
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
		"message": $"the configuration {text.excerpt(share.key)} shares by MPS under the MIG strategy mixed, so the device plugin does not start",
		"remedy": "share with sharing.timeSlicing, or use another strategy in this configuration",
		"assumption": "usher assumes that the operator and the arguments of the device plugin do not set another MIG strategy",
	}
}
