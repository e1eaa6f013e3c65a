# METADATA
# title: Training does not run on nodes whose GPUs are shared
# description: |
#   Where the device plugin shares GPUs by time-slicing or MPS, it calls the shares nvidia.com/gpu all the same unless
#   it is told otherwise. Only labels of the nodes tell: nvidia.com/gpu.sharing-strategy, a product that ends in
#   -SHARED, on GKE cloud.google.com/gke-gpu-sharing-strategy. Training that selects such nodes, or that fits only pools
#   of usher.yaml which are declared with such a label, gets shares where it asks for GPUs.
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
#   why: What looks like a GPU is a share of one, slow for the training and for everybody on it.
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
