# METADATA
# title: No annotation names devices for the container runtime
# description: |
#   Annotations below cdi.k8s.io/ name devices by the Container Device Interface, such as nvidia.com/gpu=all. Where they
#   reach the container runtime, it injects these devices whatever the pod asked for. Device plugins and device claims
#   tell the runtime themselves, past the manifest. Passthrough to virtual machines (Kata Containers) is the exception: a
#   pod that asks for the device names it as well, by a kind such as nvidia.com/pgpu, but never all of them. Namespaces
#   of monitoring, which need to see all GPUs, can be named in usher.yaml under `isolation.visibleDevices`.
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
#   why: It takes GPUs that nobody counted, often those of others.
#   closes: [B7]
#   parameters:
#     passthroughKinds:
#       default: [nvidia.com/pgpu]
#       description: Kinds of devices that a pod may name one by one, beside a request for accelerators.
#   remediation: Remove the annotation, and ask for as many GPUs as the pod needs in limits.
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
		"message": $"{workload.pod_set_name(entry.podSet)} takes the devices {text.excerpt(entry.value)} by the annotation {entry.key}, past every request and quota",
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
