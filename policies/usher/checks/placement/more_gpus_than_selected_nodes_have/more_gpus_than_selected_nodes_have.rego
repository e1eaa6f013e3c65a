# METADATA
# title: The selected nodes have as many GPUs as one pod asks for
# description: |
#   A pod runs on one node. If its node selector or required affinity names the number of GPUs that the node has, and the
#   pod asks for more, no node will ever do. The label nvidia.com/gpu.count counts MIG devices under the strategy single,
#   as the resource does. Where nodes share their GPUs by time-slicing, they offer more than the label says; that they
#   do not is assumed.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery
#     description: NVIDIA on the labels of GPU nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH314
#   about: accelerator pods
#   severity: medium
#   why: No node has so many GPUs, so the pods are pending for ever.
#   closes: [S7]
#   parameters:
#     labels:
#       default: [nvidia.com/gpu.count, karpenter.k8s.aws/instance-gpu-count]
#       description: Labels of nodes that hold the number of their NVIDIA GPUs.
#   remediation: |
#     Select nodes with as many GPUs as one pod asks for, or ask for fewer and run more pods.
package usher.checks.placement.more_gpus_than_selected_nodes_have

import data.usher.lib.nodes
import data.usher.lib.parameters
import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some label, numbers in pod_set.numbers
	label in parameters.placement.more_gpus_than_selected_nodes_have.labels
	asked := pod_set.accelerators["nvidia.com/gpu"]
	largest := max(numbers)
	asked > largest
	not nodes.never_fits(pod_set)

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} asks for {asked} GPUs on one node and selects nodes whose label {label} is {largest} at most",
		"remedy": $"select nodes with at least {asked} GPUs, or ask for {largest} at most",
		"assumption": "the nodes do not share their GPUs by time-slicing",
	}
}
