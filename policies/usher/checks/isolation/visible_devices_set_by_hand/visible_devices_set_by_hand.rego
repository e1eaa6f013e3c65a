# METADATA
# title: No container sets NVIDIA_VISIBLE_DEVICES by hand
# description: |
#   NVIDIA's container runtime gives a container the GPUs that NVIDIA_VISIBLE_DEVICES names. If a container sets the
#   variable and asks for no accelerator, it takes GPUs that no quota counts, often all GPUs of the node. If it asks for
#   accelerators, the variable overrides the devices of the device plugin, so the container may get GPUs of other pods.
#   Only an empty value, `void` and `none` give no GPU. usher cannot see variables that come from the image or from
#   `envFrom`. To allow this in monitoring namespaces, which need to see all GPUs, name them in usher.yaml under
#   `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
# schemas:
#   - input: schema.input
# custom:
#   code: USH201
#   about: pods
#   severity: critical
#   why: The container takes GPUs that no quota counts, or GPUs of other pods.
#   closes: [B1, B20]
#   remediation: |
#     Remove the variable, and ask in limits for as many GPUs as the container needs. The device plugin then sets the
#     variable itself.
package usher.checks.isolation.visible_devices_set_by_hand

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in _set_by_hand
	value := entry.variable.value
	not value in {"", "void", "none"}

	finding := {
		"path": entry.variable.path,
		"message": $"{entry.name}: NVIDIA_VISIBLE_DEVICES {text.excerpt(value)} {_effect(entry.container)}",
		"remedy": _remedy(entry.container),
	}
}

unknown contains {
	"path": entry.variable.path,
	"reason": $"{entry.name}: NVIDIA_VISIBLE_DEVICES gets its value from elsewhere, so usher cannot read it",
} if {
	some entry in _set_by_hand
	not entry.variable.value
}

_set_by_hand := [entry |
	not input.site.visibleDevicesAllowed
	not input.site.systemNamespace
	some pod_set in input.podSets
	some container in pod_set.containers
	variable := container.environment.NVIDIA_VISIBLE_DEVICES
	entry := {"container": container, "variable": variable, "name": workload.container_name(pod_set, container)}
]

_effect(container) := "overrides the devices that the device plugin assigns to the container" if container.asksAccelerators

_effect(container) := "takes GPUs that no quota counts, because the container asks for no accelerator" if not container.asksAccelerators

# Ephemeral containers cannot ask for resources.
_remedy(container) := "remove NVIDIA_VISIBLE_DEVICES, and ask for the GPUs in limits" if {
	not container.asksAccelerators
	container.type != "ephemeral container"
} else := "remove NVIDIA_VISIBLE_DEVICES"
