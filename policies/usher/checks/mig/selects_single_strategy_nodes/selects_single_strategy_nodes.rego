# METADATA
# title: Pods that name slices do not select nodes that offer them as GPUs
# description: |
#   Under the MIG strategy `single` a node offers its slices as nvidia.com/gpu, and its label nvidia.com/gpu.product
#   ends in `-MIG-` and the profile; under `mixed` it offers nvidia.com/mig-*, and the label names the whole GPU. A pod
#   that selects the one kind of node and asks for the other kind of resource waits for ever.
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
#   why: The nodes that it selects never offer what it asks for.
#   closes: [S17, S18]
#   remediation: |
#     On such nodes ask for nvidia.com/gpu. To ask for nvidia.com/mig-*, select nodes of the strategy mixed.
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
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for {slice.name}, but nodes with {label}: {text.excerpt(value)} offer slices as nvidia.com/gpu at most",
		"remedy": "ask for nvidia.com/gpu there, or select nodes of the MIG strategy mixed",
	}
}

_offers_no_slices("nvidia.com/gpu.product", value) if contains(value, "-MIG-")

_offers_no_slices("nvidia.com/mig.strategy", value) if value in ["none", "single"]
