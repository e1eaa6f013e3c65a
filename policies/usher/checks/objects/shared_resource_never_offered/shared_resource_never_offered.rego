# METADATA
# title: The device plugin shares only resources that nodes offer
# description: |
#   The device plugin makes replicas of resources by their names. Under the MIG strategy `single`, slices have the name
#   nvidia.com/gpu. Under `none` the node offers no slices. Replicas of nvidia.com/mig-* then have no effect, and the
#   node offers as much as before. Under `single`, seven slices with four replicas each are 28 nvidia.com/gpu.
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
#   why: The slices are not shared, and users get no message.
#   closes: [S19]
#   remediation: Under `single` share nvidia.com/gpu. To share separate profiles, set flags.migStrategy to mixed.
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
		"assumption": "usher assumes that the operator and the arguments of the device plugin do not set another MIG strategy",
	}
}
