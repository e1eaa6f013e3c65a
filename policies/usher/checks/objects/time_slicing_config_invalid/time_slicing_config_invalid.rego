# METADATA
# title: The sharing configuration of the device plugin is valid
# description: |
#   For each way of sharing, the device plugin reads a list of resources from its ConfigMap. Each entry needs a name and
#   a number of replicas of at least 2. If the list or one of these fields is missing, the device plugin refuses the
#   whole configuration and does not start, and the node offers no GPUs. It does not read `replicas` outside the list.
#   The configuration is a text in the ConfigMap, so findings name only its key.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on the configuration of sharing
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
#     description: NVIDIA's GPU Operator on time-slicing
# schemas:
#   - input: schema.input
# custom:
#   code: USH1441
#   about: objects
#   kinds: [configMap]
#   severity: high
#   why: The device plugin does not start, and the nodes lose all their GPUs.
#   closes: [S19]
#   remediation: |
#     List the shared resources, for example {name: nvidia.com/gpu, replicas: 4}, in sharing.timeSlicing.resources or
#     sharing.mps.resources.
package usher.checks.objects.time_slicing_config_invalid

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	object.get(share.said, "resources", []) == []

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} has no resources in sharing.{share.way}, so the device plugin refuses it",
		"remedy": _list_them(share.said),
	}
}

deny contains finding if {
	some share in operators.shares
	some index, resource in share.said.resources
	some missing in ["name", "replicas"]
	not resource[missing]

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} has no {missing} in sharing.{share.way}.resources[{index}], so the device plugin refuses it",
		"remedy": $"set {missing} of the shared resource",
	}
}

deny contains finding if {
	some share in operators.shares
	some index, resource in share.said.resources
	resource.replicas < 2

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} has replicas: {resource.replicas} in sharing.{share.way}.resources[{index}], but the device plugin refuses less than 2",
		"remedy": "set 2 replicas or more, or remove the sharing",
	}
}

_list_them(said) := $"write resources: [\{name: nvidia.com/gpu, replicas: {said.replicas}}]" if said.replicas

_list_them(said) := "list the shared resources with name and replicas" if not said.replicas
