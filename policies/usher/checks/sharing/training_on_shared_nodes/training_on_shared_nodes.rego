# METADATA
# title: Training does not run on nodes whose GPUs are shared
# description: |
#   If the device plugin shares GPUs by time-slicing or MPS, it still calls the shares nvidia.com/gpu, unless its
#   configuration says otherwise. Only node labels show the sharing: nvidia.com/gpu.sharing-strategy, a product name
#   that ends in -SHARED, or on GKE cloud.google.com/gke-gpu-sharing-strategy. The check reports training that selects
#   these nodes. It also reports training that fits only pools of usher.yaml with one of these labels. Both ask for GPUs
#   and get shares.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#catalog-of-labels
#     description: NVIDIA's device plugin on the labels of nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH806
#   about: accelerator pods
#   severity: medium
#   why: The pod gets a share of a GPU, which slows down the training and all others on that GPU.
#   closes: [S14, B43]
#   remediation: |
#     Select nodes whose GPUs are not shared.
package usher.checks.sharing.training_on_shared_nodes

import data.usher.lib.sharing
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	nodes := sharing.shared_nodes(pod_set)
	sharing.shares(pod_set) == []

	finding := {
		"path": nodes.path,
		"message": $"{workload.pod_set_name(pod_set)} trains on {nodes.which}, where several containers share a GPU",
		"remedy": "select nodes whose GPUs are not shared",
	}
}
