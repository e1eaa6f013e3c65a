# METADATA
# title: NVIDIA_VISIBLE_DEVICES is not set by hand
# description: |
#   NVIDIA's container runtime gives a container the GPUs that NVIDIA_VISIBLE_DEVICES names. Set by hand in a container
#   that asks for no accelerator, it takes GPUs that nobody counted, often all of the node; beside a request, it
#   overrides the devices that the device plugin hands out, which may belong to others. Only an empty value, `void` and
#   `none` give nothing. Variables that come with the image or by `envFrom` cannot be seen here. Namespaces of
#   monitoring, which need to see all GPUs, can be named in usher.yaml under `isolation.visibleDevices`.
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
#   why: It takes GPUs that nobody counted, or those of others.
#   closes: [B1, B20]
#   remediation: |
#     Remove the variable, and ask for as many GPUs as the container needs in its limits; the device plugin then sets
#     the variable itself.
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
	"reason": $"{entry.name}: NVIDIA_VISIBLE_DEVICES comes from elsewhere and cannot be read",
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

_effect(container) := "overrides the devices that it is given for its request" if container.asksAccelerators

_effect(container) := "without a request takes GPUs that nobody counted" if not container.asksAccelerators

# Ephemeral containers cannot ask for resources.
_remedy(container) := "remove it, and ask for the GPUs in limits" if {
	not container.asksAccelerators
	container.type != "ephemeral container"
} else := "remove it"
