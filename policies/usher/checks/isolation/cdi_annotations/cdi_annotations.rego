# METADATA
# title: No annotation names devices for the container runtime
# description: |
#   Annotations below cdi.k8s.io/ name devices by the Container Device Interface, for example nvidia.com/gpu=all. If
#   they reach the container runtime, it injects these devices, whatever the pod asks for. Device plugins and device
#   claims do not need them, because they tell the runtime directly.
#
#   Passthrough to virtual machines (Kata Containers) is the exception. A pod that asks for the device may name it too,
#   by a kind like nvidia.com/pgpu, but never all devices. To allow this in monitoring namespaces, which need to see
#   all GPUs, name them in usher.yaml under `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://github.com/cncf-tags/container-device-interface
#     description: CNCF on the Container Device Interface
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-kata.html
#     description: NVIDIA on pods of Kata Containers
# schemas:
#   - input: schema.input
# custom:
#   code: USH208
#   about: labelled pods
#   severity: high
#   why: The pod takes GPUs that no quota counts, often GPUs of other pods.
#   closes: [B7]
#   parameters:
#     passthroughKinds:
#       default: [nvidia.com/pgpu]
#       description: Kinds of devices that a pod may name one by one if it also asks for accelerators.
#   remediation: Remove the annotation, and ask in limits for as many GPUs as the pod needs.
package usher.checks.isolation.cdi_annotations

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in isolation.device_annotations
	entry.domain == "cdi.k8s.io"
	not isolation.may_see_all_devices
	not _passed_through(entry)

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} takes the devices {text.excerpt(entry.value)} by the annotation {entry.key}, which bypasses requests and quotas",
		"remedy": "remove the annotation, and ask for the GPUs in limits",
	}
}

_passed_through(entry) if {
	_may_ask(entry.podSet)
	every device in split(entry.value, ",") {
		[kind, name] := split(device, "=")
		trim_space(kind) in parameters.isolation.cdi_annotations.passthroughKinds
		trim_space(name) != "all"
	}
}

_may_ask(pod_set) if pod_set.asksAccelerators

_may_ask(pod_set) if pod_set.deviceClaims > 0
