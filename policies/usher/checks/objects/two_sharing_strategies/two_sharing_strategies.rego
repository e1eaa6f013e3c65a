# METADATA
# title: GPUs are shared in one way
# description: |
#   The device plugin shares the GPUs of a node by time-slicing or by MPS. A configuration with both is taken for one
#   with MPS, and what it says of time-slicing counts for nothing.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on the two ways of sharing
# schemas:
#   - input: schema.input
# custom:
#   code: USH1447
#   about: objects
#   kinds: [configMap]
#   severity: medium
#   why: The node shares in another way, and other resources, than half of the configuration says.
#   closes: [S19]
#   remediation: |
#     Keep sharing.mps or sharing.timeSlicing. For both in one cluster, use two configurations and choose by the node
#     label nvidia.com/device-plugin.config.
package usher.checks.objects.two_sharing_strategies

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	share.way == "timeSlicing"
	share.configuration.sharing.mps

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares by MPS and by time-slicing, of which only MPS counts",
		"remedy": "keep one of sharing.mps and sharing.timeSlicing",
	}
}
