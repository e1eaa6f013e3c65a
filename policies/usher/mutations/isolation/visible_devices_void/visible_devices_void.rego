# METADATA
# title: Hide GPUs from containers that request no GPU
# description: |
#   Most CUDA images set NVIDIA_VISIBLE_DEVICES to `all`. NVIDIA's container runtime then gives the container every GPU
#   of the node, even without a request. The webhook sets the variable to `void`, which hides all GPUs, in every
#   container that asks for no accelerator. Where pools or nodes offer devices of AMD, Huawei, Hygon, Iluvatar, Intel or
#   Kunlunxin, it also sets the variable of that vendor's runtime. This covers pods without accelerators, other containers of an accelerator
#   pod, and debug containers that users add to a running pod.
#   The device plugin sets the variable for containers that ask for accelerators. The driver of a device claim does so
#   for containers that use the claim. A check judges containers that set the variable themselves. The webhook changes
#   only Pods, so templates stay as their authors wrote them.
#   Device plugins, exporters of GPU metrics and other node agents would see nothing without GPUs. The webhook spares the
#   namespaces that usher.yaml names for them (`priorities.systemNamespaces` and `isolation.visibleDevices`). A DaemonSet
#   elsewhere is a workload of a tenant, because any user who may edit a namespace can make one.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
# schemas:
#   - input: schema.input
# custom:
#   code: USM201
#   order: 90
#   protects_others: true
#   about: pods
#   silent: true
package usher.mutations.isolation.visible_devices_void

import data.usher.lib.isolation

intents contains {
	"at": container.path,
	"field": "enforcedEnvironment",
	"value": {"name": name, "value": "void"},
	"reason": "the container asks for no GPU, but its image may make all GPUs visible",
} if {
	_is_pod
	not isolation.may_see_all_devices
	some container in input.podSets[0].containers
	not container.asksAccelerators
	not container.usesClaims
	some name in array.concat(["NVIDIA_VISIBLE_DEVICES"], object.get(input.site, "hidingVariables", []))
	not container.environment[name]
}

skips contains {"at": "", "reason": "the webhook does not change templates; it changes their pods"} if not _is_pod

skips contains {"at": "", "reason": "pods of this namespace may see all devices of their nodes"} if {
	_is_pod
	isolation.may_see_all_devices
}

skips contains {"at": container.path, "reason": reason} if {
	_is_pod
	not isolation.may_see_all_devices
	some container in input.podSets[0].containers
	reason := _why_not(container)
}

_why_not(container) := "the container sets NVIDIA_VISIBLE_DEVICES itself, and a check judges the value" if {
	container.environment.NVIDIA_VISIBLE_DEVICES
} else := "the container asks for accelerators, and the device plugin chooses its devices" if {
	container.asksAccelerators
} else := "the container uses a device claim, and the driver of the claim chooses its devices" if {
	container.usesClaims
}

_is_pod if {
	input.workload.kind == "Pod"
	input.workload.group == ""
}
