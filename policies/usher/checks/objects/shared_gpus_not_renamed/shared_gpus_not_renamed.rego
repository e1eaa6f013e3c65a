# METADATA
# title: Shares of GPUs have a name of their own
# description: |
#   Unless told otherwise the device plugin calls shares what it calls whole GPUs, nvidia.com/gpu. Then nothing in a
#   manifest tells whether a pod gets a GPU or a tenth of one: quotas count shares as GPUs, and training lands on shared
#   nodes. With renameByDefault shares are nvidia.com/gpu.shared, and everybody can see what they ask for.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
#     description: NVIDIA's device plugin on renaming what is shared
# schemas:
#   - input: schema.input
# custom:
#   code: USH1442
#   about: objects
#   kinds: [configMap]
#   severity: low
#   why: Nothing in a manifest tells a share from a whole GPU.
#   closes: [S15, B43]
#   remediation: |
#     Set renameByDefault to true, and have workloads that are meant to share ask for nvidia.com/gpu.shared.
package usher.checks.objects.shared_gpus_not_renamed

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	count(share.said.resources) > 0
	not share.said.renameByDefault

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} gives shares the name of whole GPUs, by sharing.{share.way}",
		"remedy": $"set sharing.{share.way}.renameByDefault to true",
	}
}
