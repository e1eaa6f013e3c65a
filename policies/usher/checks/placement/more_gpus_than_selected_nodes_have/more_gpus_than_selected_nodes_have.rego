# METADATA
# title: The selected nodes have enough GPUs for one pod
# description: |
#   A pod runs on one node. If its node selector or required affinity names the node's number of GPUs, and the pod asks
#   for more, no node can ever hold it. The label nvidia.com/gpu.count counts MIG devices under the strategy single, as
#   the resource does. Nodes that share their GPUs by time-slicing offer more than the label says; the check assumes
#   that they do not share.
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
#   why: No selected node has enough GPUs, so the pods stay pending forever.
#   closes: [S7]
#   parameters:
#     labels:
#       default: [nvidia.com/gpu.count, karpenter.k8s.aws/instance-gpu-count]
#       description: Node labels that hold the node's number of NVIDIA GPUs.
#   remediation: Select nodes with as many GPUs as one pod asks for. Or ask for fewer GPUs and run more pods.
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
		"message": $"{workload.pod_set_name(pod_set)} asks for {asked} GPUs on one node, but selects nodes whose label {label} is at most {largest}",
		"remedy": $"select nodes with at least {asked} GPUs, or ask for at most {largest}",
		"assumption": "usher assumes that the nodes do not share their GPUs by time-slicing",
	}
}
