# METADATA
# title: What is shared is what the nodes offer
# description: |
#   Replicas are made of resources by their names. Under the MIG strategy `single` slices are nvidia.com/gpu, and under
#   `none` there are none; replicas of nvidia.com/mig-* are then replicas of nothing, and the node offers as much as
#   before. Seven slices with four replicas each are 28 of nvidia.com/gpu under `single`.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
#     description: NVIDIA's device plugin on which resources can be shared
# schemas:
#   - input: schema.input
# custom:
#   code: USH1448
#   about: objects
#   kinds: [configMap]
#   severity: medium
#   why: The slices are not shared, and nobody is told.
#   closes: [S19]
#   remediation: |
#     Under `single` name nvidia.com/gpu. To share single profiles, set flags.migStrategy to mixed.
package usher.checks.objects.shared_resource_never_offered

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	share.way == "timeSlicing"
	strategy := share.configuration.flags.migStrategy
	strategy in ["none", "single"]
	some resource in share.said.resources
	operators.is_mig(resource)

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares {text.excerpt(resource.name)}, which no node offers under its MIG strategy {strategy}",
		"remedy": "share nvidia.com/gpu, or set flags.migStrategy to mixed",
		"assumption": "neither the operator nor an argument of the device plugin sets another MIG strategy",
	}
}
