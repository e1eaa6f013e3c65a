# METADATA
# title: Nodes are divided as they were told
# description: |
#   The MIG manager divides the GPUs of a node as its label nvidia.com/mig.config says, and writes how it went into
#   nvidia.com/mig.config.state. After `failed` the node keeps what it had, or has slices that nobody asked for, and the
#   pods that wait for the new ones wait on. Under the MIG strategy `single` a product that ends in -MIG-INVALID says
#   that the GPUs are not all divided alike; such a node offers no GPUs at all.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA on how nodes are divided, and their labels
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery#mig-strategy
#     description: NVIDIA on the labels of divided nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1444
#   about: objects
#   kinds: [node]
#   severity: medium
#   why: The node does not offer the slices that everybody counts on.
#   closes: [S18]
#   remediation: |
#     Look into the log of nvidia-mig-manager on the node. Mostly a process still held a GPU, or the name is in no
#     configuration of the MIG manager; take such pods off the node and set the label anew.
package usher.checks.objects.mig_config_failed

deny contains finding if {
	input.object.node.metadata.labels["nvidia.com/mig.config.state"] == "failed"

	finding := {
		"path": "/metadata/labels/nvidia.com~1mig.config.state",
		"message": "the MIG manager could not divide the GPUs of the node as its label nvidia.com/mig.config says",
		"remedy": "look into the log of nvidia-mig-manager on the node, and set the label anew",
	}
}

deny contains finding if {
	product := input.object.node.metadata.labels["nvidia.com/gpu.product"]
	endswith(product, "-MIG-INVALID")

	finding := {
		"path": "/metadata/labels/nvidia.com~1gpu.product",
		"message": "the GPUs of the node are not all divided alike, so that it offers none under the MIG strategy single",
		"remedy": "divide all of them alike, or use the MIG strategy mixed",
	}
}
