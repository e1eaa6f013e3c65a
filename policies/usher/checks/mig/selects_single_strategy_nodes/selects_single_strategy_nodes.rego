# METADATA
# title: Pods that ask for nvidia.com/mig-* select nodes of the MIG strategy mixed
# description: |
#   Under the MIG strategy `single` a node offers its slices as nvidia.com/gpu, and its label nvidia.com/gpu.product
#   ends in `-MIG-` and the profile. Under `mixed` a node offers nvidia.com/mig-*, and the label names the whole GPU.
#   Under `none` a node offers no slices. A pod waits forever if it selects nodes of `single` or `none` and asks for
#   nvidia.com/mig-*.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery#mig-strategy
#     description: NVIDIA on the labels of nodes under either strategy
# schemas:
#   - input: schema.input
# custom:
#   code: USH712
#   about: accelerator pods
#   severity: high
#   why: The selected nodes never offer nvidia.com/mig-*.
#   closes: [S17, S18]
#   remediation: |
#     Ask for nvidia.com/gpu on these nodes. To ask for nvidia.com/mig-*, select nodes of the MIG strategy mixed.
package usher.checks.mig.selects_single_strategy_nodes

import data.usher.lib.mig
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some slice in mig.slices
	some label in ["nvidia.com/gpu.product", "nvidia.com/mig.strategy"]
	value := slice.podSet.nodeSelector[label]
	_offers_no_slices(label, value)
	key := replace(label, "/", "~1")

	finding := {
		"path": $"{workload.field_path(slice.podSet, "nodeSelector")}/{key}",
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for {slice.name}, but nodes with {label}: {text.excerpt(value)} do not offer nvidia.com/mig-*",
		"remedy": "ask for nvidia.com/gpu on these nodes, or select nodes of the MIG strategy mixed",
	}
}

_offers_no_slices("nvidia.com/gpu.product", value) if contains(value, "-MIG-")

_offers_no_slices("nvidia.com/mig.strategy", value) if value in ["none", "single"]
