# METADATA
# title: No container names its devices in a variable
# description: |
#   NVIDIA's container runtime gives a container the GPUs that NVIDIA_VISIBLE_DEVICES names, and the memory channels
#   between nodes that NVIDIA_IMEX_CHANNELS names. The runtimes of AMD, Habana and Neuron read AMD_VISIBLE_DEVICES,
#   HABANA_VISIBLE_DEVICES and AWS_NEURON_VISIBLE_DEVICES. If a container sets one of them and asks for no
#   accelerator, it takes devices that no quota counts, often all of the node. If it asks for accelerators, the variable
#   overrides the devices of the device plugin, so the container may get devices of other pods. Variables that only hide
#   devices from a program, for example CUDA_VISIBLE_DEVICES, are allowed.
#
#   Only an empty value, `void` and `none` give no device. A value that usher cannot read can be `all`, so the check
#   refuses it: a value with `$(NAME)`, and one from `valueFrom`, which the author of the pod can change in an annotation
#   or a ConfigMap. KAI-Scheduler and run:ai add an entry with valueFrom to pods with fractions, and write its ConfigMap
#   before the pod starts. Where usher.yaml sends workloads to KAI-Scheduler (routing), the check only warns about this
#   entry: its author can still change the ConfigMap. The check reads `envFrom` if the ConfigMap is in the same files. Another check
#   reports `envFrom` with contents that usher does not know. No manifest shows variables of the image.
#
#   To allow this in monitoring namespaces, which need to see all GPUs, name them in usher.yaml under
#   `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
#     description: NVIDIA on the variables that its container runtime reads
#   - ref: https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/imexchannels.html
#     description: NVIDIA on IMEX channels
#   - ref: https://instinct.docs.amd.com/projects/container-toolkit/en/latest/container-runtime/running-workloads.html
#     description: AMD on its container runtime
#   - ref: https://pkg.go.dev/github.com/HabanaAI/habana-container-runtime
#     description: Habana on its container runtime
#   - ref: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/tutorial-oci-hook.html
#     description: AWS on the hook that reads AWS_NEURON_VISIBLE_DEVICES
# schemas:
#   - input: schema.input
# custom:
#   code: USH201
#   about: pods
#   severity: critical
#   why: The container takes devices that no quota counts, or devices of other pods.
#   closes: [B1, B20]
#   remediation: |
#     Remove the variable, and ask in limits for as many GPUs as the container needs. The device plugin then sets the
#     variable itself. For memory channels between nodes, use a claim of a ComputeDomain.
package usher.checks.isolation.visible_devices_set_by_hand

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in _set_by_hand
	value := entry.variable.value
	not value in isolation.values_without_devices

	finding := {
		"path": entry.variable.path,
		"message": $"{entry.place}: {entry.name} {text.excerpt(value)} {_effect(entry)}",
		"remedy": _remedy(entry),
	}
}

deny contains object.union(finding, _assumption(entry)) if {
	some entry in _set_by_hand
	not entry.variable.value

	finding := {
		"path": entry.variable.path,
		"message": $"{entry.place}: {entry.name} takes its value from elsewhere (valueFrom or $(NAME)), so it can {_any(entry)}",
		"remedy": _remedy(entry),
	}
}

_assumption(entry) := {} if not _written_by_kai(entry)

_assumption(entry) := {"assumption": $"usher assumes that only KAI-Scheduler writes ConfigMap {text.excerpt(entry.variable.configMap.name)}"} if {
	_written_by_kai(entry)
}

# What the webhook of KAI-Scheduler adds to a Pod with a fraction: AddVisibleDevicesEnvVars in pkg/binder/common and
# pkg/binder/common/gpusharingconfigmap of NVIDIA/KAI-Scheduler.
_written_by_kai(entry) if {
	entry.name == "NVIDIA_VISIBLE_DEVICES"
	input.workload.kind == "Pod"
	entry.podSet.schedulerName in input.site.kaiSchedulers
	some request in entry.podSet.requests
	request.route == "fraction annotation"
	prefix := entry.podSet.annotations["runai/shared-gpu-configmap"]
	prefix != ""
	regex.match(`^-[0-9]{1,3}$`, trim_prefix(entry.variable.configMap.name, prefix))
	startswith(entry.variable.configMap.name, prefix)
	entry.variable.configMap.key in {"NVIDIA_VISIBLE_DEVICES", "RUNAI-VISIBLE-DEVICES"}
}

deny contains finding if {
	some entry in _brought
	not entry.value in isolation.values_without_devices

	finding := {
		"path": entry.path,
		"message": $"{entry.place}: envFrom brings {entry.name} {text.excerpt(entry.value)}, which {_effect(entry)}",
		"remedy": $"remove {entry.name} from the ConfigMap",
	}
}

_set_by_hand := [entry |
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	some container in pod_set.containers
	some name in isolation.device_variables
	variable := container.environment[name]
	entry := {
		"name": name,
		"podSet": pod_set,
		"container": container,
		"variable": variable,
		"place": workload.container_name(pod_set, container),
	}
]

# The container's own entries win, and a later source wins over an earlier one.
_brought := [entry |
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	some container in pod_set.containers
	some name in isolation.device_variables
	not container.environment[name]

	# A later source wins.
	source := container.environmentSources[max([index | some index, each in container.environmentSources; each.variables[name]])]
	value := source.variables[name]
	entry := {
		"name": name,
		"container": container,
		"value": value,
		"path": source.path,
		"place": workload.container_name(pod_set, container),
	}
]

_effect(entry) := "opens memory of other nodes that no device claim gave to the container" if {
	entry.name == "NVIDIA_IMEX_CHANNELS"
} else := "overrides the devices that the device plugin assigns to the container" if {
	entry.container.asksAccelerators
} else := "takes devices that no quota counts, because the container asks for no accelerator"

# Ephemeral containers cannot ask for resources.
_remedy(entry) := "remove NVIDIA_IMEX_CHANNELS, and use a claim of a ComputeDomain" if {
	entry.name == "NVIDIA_IMEX_CHANNELS"
	entry.container.type != "ephemeral container"
} else := $"remove {entry.name}, and ask for the devices in limits" if {
	not entry.container.asksAccelerators
	entry.container.type != "ephemeral container"
} else := $"remove {entry.name}"

_any(entry) := "open memory of other nodes" if entry.name == "NVIDIA_IMEX_CHANNELS"

_any(entry) := "name any device of the node" if entry.name != "NVIDIA_IMEX_CHANNELS"
