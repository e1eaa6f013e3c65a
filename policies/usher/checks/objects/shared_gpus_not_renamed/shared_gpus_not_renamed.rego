# METADATA
# title: Shared GPUs have their own resource name
# description: |
#   By default the device plugin gives shares the name of whole GPUs, nvidia.com/gpu. Then a manifest does not show
#   whether a pod gets a GPU or a tenth of one. Quotas count shares as GPUs, and training runs on shared nodes. With
#   renameByDefault the name of shares is nvidia.com/gpu.shared, and every manifest shows the difference.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
#     description: NVIDIA's device plugin on the names of shared resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1442
#   about: objects
#   kinds: [configMap]
#   severity: low
#   why: A manifest does not show whether a pod gets a share or a whole GPU.
#   closes: [S15, B43]
#   remediation: Set renameByDefault to true, and change workloads that should share to nvidia.com/gpu.shared.
package usher.checks.objects.shared_gpus_not_renamed

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	count(share.said.resources) > 0
	not share.said.renameByDefault

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} gives shares the name of whole GPUs with sharing.{share.way}",
		"remedy": $"set sharing.{share.way}.renameByDefault to true",
	}
}
