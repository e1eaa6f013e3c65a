# METADATA
# title: The device plugin can read how GPUs are shared
# description: |
#   The device plugin reads from its ConfigMap, for each way of sharing, a list of resources: each with its name and
#   with how many replicas there are of it, two at least. Without the list, or with an entry that lacks either, it
#   refuses the whole configuration and does not start, and the node offers no GPUs at all. `replicas` beside the list
#   instead of in it is not read. Places in the text of a ConfigMap are not told, only its key.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on how sharing is configured
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
#     List the resources that are shared, such as {name: nvidia.com/gpu, replicas: 4}, below
#     sharing.timeSlicing.resources or sharing.mps.resources.
package usher.checks.objects.time_slicing_config_invalid

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	object.get(share.said, "resources", []) == []

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} lists no resources below sharing.{share.way}, so the device plugin refuses it",
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
		"message": $"the configuration {text.excerpt(share.key)} says no {missing} in sharing.{share.way}.resources[{index}], so the device plugin refuses it",
		"remedy": $"say the {missing} of the resource that is shared",
	}
}

deny contains finding if {
	some share in operators.shares
	some index, resource in share.said.resources
	resource.replicas < 2

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} has replicas: {resource.replicas} in sharing.{share.way}.resources[{index}], and the device plugin refuses less than 2",
		"remedy": "have 2 replicas or more, or leave the sharing out",
	}
}

_list_them(said) := $"write resources: [\{name: nvidia.com/gpu, replicas: {said.replicas}}]" if said.replicas

_list_them(said) := "list the resources that are shared, with name and replicas" if not said.replicas
