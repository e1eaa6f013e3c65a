# METADATA
# title: Production does not run on shares of GPUs
# description: |
#   Time slices are not kept apart: whoever shares the GPU can take its memory and its time, and a fault of one ends
#   them all. For tests and notebooks that is a fair price. For what people wait for it is not; such services take MIG
#   slices, which hardware keeps apart, or whole GPUs. Which namespaces are production, usher.yaml says (parameters,
#   shares-in-production, production: true, in these namespaces).
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on what shares promise
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
#     description: NVIDIA on time-slicing, and how it differs from MIG
# schemas:
#   - input: schema.input
# custom:
#   code: USH803
#   about: accelerator pods
#   severity: medium
#   why: A service on a share is as fast, and as safe, as whoever shares the GPU lets it be.
#   closes: [S15]
#   parameters:
#     production:
#       default: false
#       description: Whether a namespace is production.
#   remediation: |
#     Ask for a MIG slice or a whole GPU, on nodes whose GPUs are not shared.
package usher.checks.sharing.shares_in_production

import data.usher.lib.parameters
import data.usher.lib.sharing
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	parameters.sharing.shares_in_production.production
	some pod_set in workload.accelerator_pod_sets
	share := sharing.shares(pod_set)[0]

	finding := {
		"path": share.path,
		"message": $"{workload.pod_set_name(pod_set)} runs on shares of GPUs, by {text.excerpt(share.name)}, and this is production",
		"remedy": _remedy,
	}
}

deny contains finding if {
	parameters.sharing.shares_in_production.production
	some pod_set in workload.accelerator_pod_sets
	sharing.shares(pod_set) == []
	nodes := sharing.shared_nodes(pod_set)

	finding := {
		"path": nodes.path,
		"message": $"{workload.pod_set_name(pod_set)} runs on {nodes.which}, where several containers share a GPU, and this is production",
		"remedy": _remedy,
	}
}

_remedy := "ask for a MIG slice or a whole GPU, on nodes whose GPUs are not shared"
