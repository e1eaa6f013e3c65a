# METADATA
# title: Hide GPUs from containers that ask for none
# description: |
#   Most CUDA images set NVIDIA_VISIBLE_DEVICES to `all`, and NVIDIA's container runtime then hands over every GPU of
#   the node, asked for or not. Every container that asks for no accelerator is given `void`, which stands for none: in
#   pods that ask for none, beside one that asks, and when it is added to a running pod for debugging. Containers that
#   ask are left to the device plugin, those that use a device claim to its driver, and those that set the variable
#   themselves are judged by a check. Only Pods are changed, never templates, so that what is deployed stays what its
#   author wrote.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
# schemas:
#   - input: schema.input
# custom:
#   code: USM201
#   order: 90
#   about: pods
#   silent: true
package usher.mutations.isolation.visible_devices_void

import data.usher.lib.isolation

intents contains {
	"at": container.path,
	"field": "enforcedEnvironment",
	"value": {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
	"reason": "it asks for no GPU, but its image may switch all of them on",
} if {
	_is_pod
	not isolation.may_see_all_devices
	some container in input.podSets[0].containers
	not container.asksAccelerators
	not container.usesClaims
	not container.environment.NVIDIA_VISIBLE_DEVICES
}

skips contains {"at": "", "reason": "templates stay as their author wrote them; their pods are changed"} if not _is_pod

skips contains {"at": "", "reason": "pods of its namespace may see all devices of their nodes"} if {
	_is_pod
	isolation.may_see_all_devices
}

skips contains {"at": container.path, "reason": reason} if {
	_is_pod
	not isolation.may_see_all_devices
	some container in input.podSets[0].containers
	reason := _why_not(container)
}

_why_not(container) := "it sets NVIDIA_VISIBLE_DEVICES itself, which a check judges" if {
	container.environment.NVIDIA_VISIBLE_DEVICES
} else := "it asks for devices, and the device plugin says which of them it sees" if {
	container.asksAccelerators
} else := "it uses a device claim, whose driver says which devices it sees" if {
	container.usesClaims
}

_is_pod if {
	input.workload.kind == "Pod"
	input.workload.group == ""
}
