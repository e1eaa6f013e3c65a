# METADATA
# title: The MIG manager, or the one of AMD, has divided the node as configured
# description: |
#   The MIG manager divides the GPUs of a node by its label nvidia.com/mig.config, and writes the result into
#   nvidia.com/mig.config.state. After `failed`, the node keeps its old slices or has wrong ones, and pods keep waiting
#   for the new slices. Under the MIG strategy `single`, a product that ends in -MIG-INVALID means that the GPUs are not
#   all divided in the same way. This node offers no GPUs. AMD's Device Config Manager partitions GPUs by the label
#   dcm.amd.com/gpu-config-profile, and writes the result into dcm.amd.com/gpu-config-profile-state.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA on the division of nodes, and their labels
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery#mig-strategy
#     description: NVIDIA on the labels of divided nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1444
#   about: objects
#   kinds: [node]
#   severity: medium
#   why: The node does not offer the slices that users expect.
#   closes: [S18]
#   remediation: |
#     Read the log of nvidia-mig-manager on the node. Usually a process still held a GPU, or no MIG manager
#     configuration contains the name. Remove these pods from the node and set the label again.
package usher.checks.objects.mig_config_failed

deny contains finding if {
	input.object.node.metadata.labels["nvidia.com/mig.config.state"] == "failed"

	finding := {
		"path": "/metadata/labels/nvidia.com~1mig.config.state",
		"message": "the MIG manager could not divide the GPUs of the node as its label nvidia.com/mig.config says",
		"remedy": "read the log of nvidia-mig-manager on the node, and set the label again",
	}
}

deny contains finding if {
	product := input.object.node.metadata.labels["nvidia.com/gpu.product"]
	endswith(product, "-MIG-INVALID")

	finding := {
		"path": "/metadata/labels/nvidia.com~1gpu.product",
		"message": "the GPUs of the node are not all divided in the same way, so under the MIG strategy single it offers no GPUs",
		"remedy": "divide all GPUs in the same way, or use the MIG strategy mixed",
	}
}

deny contains finding if {
	input.object.node.metadata.labels["dcm.amd.com/gpu-config-profile-state"] == "failure"

	finding := {
		"path": "/metadata/labels/dcm.amd.com~1gpu-config-profile-state",
		"message": "the Device Config Manager could not partition the GPUs of the node as its label dcm.amd.com/gpu-config-profile says",
		"remedy": "read the log of the config manager and its Events on the node: the profile must exist, assign all GPUs, and find no pod on them",
	}
}
