# METADATA
# title: A configuration shares GPUs in only one way
# description: |
#   The device plugin shares the GPUs of a node by time-slicing or by MPS. If a configuration has both, the device
#   plugin uses MPS and ignores the settings for time-slicing.
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
#   why: The node shares other resources, in another way, than half of the configuration says.
#   closes: [S19]
#   remediation: |
#     Keep sharing.mps or sharing.timeSlicing. To use both in one cluster, write two configurations and choose one for
#     each node with the label nvidia.com/device-plugin.config.
package usher.checks.objects.two_sharing_strategies

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	share.way == "timeSlicing"
	share.configuration.sharing.mps

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares by MPS and by time-slicing, but the device plugin uses only MPS",
		"remedy": "keep one of sharing.mps and sharing.timeSlicing",
	}
}
