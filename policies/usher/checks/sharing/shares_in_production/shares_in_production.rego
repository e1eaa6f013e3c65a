# METADATA
# title: Production does not run on shares of GPUs
# description: |
#   Time slices are not isolated. Another container on the GPU can take its memory and its time, and one fault can end
#   all containers on the GPU. This is acceptable for tests and notebooks, but not for services that people wait for.
#   Run services on MIG slices, which the hardware isolates, or on whole GPUs. usher.yaml says which namespaces are
#   production (parameters, shares-in-production, production: true, in these namespaces).
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on shared access to GPUs
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
#     description: NVIDIA on time-slicing, and how it differs from MIG
# schemas:
#   - input: schema.input
# custom:
#   code: USH803
#   about: accelerator pods
#   severity: medium
#   why: Other containers on the same GPU can slow the service down or end it.
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
		"message": $"{workload.pod_set_name(pod_set)} runs on shares of GPUs ({text.excerpt(share.name)}), but its namespace is production",
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
		"message": $"{workload.pod_set_name(pod_set)} runs on {nodes.which}, where several containers share a GPU, but its namespace is production",
		"remedy": _remedy,
	}
}

_remedy := "ask for a MIG slice or a whole GPU, on nodes whose GPUs are not shared"
