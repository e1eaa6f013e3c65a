# METADATA
# title: No container names its devices in a variable
# description: |
#   NVIDIA's container runtime gives a container the GPUs that NVIDIA_VISIBLE_DEVICES names, and the memory channels
#   between nodes that NVIDIA_IMEX_CHANNELS names. NVIDIA_MOFED gives it all network cards for RDMA, and NVIDIA_NVSWITCH
#   the control of the switches between GPUs. The runtimes of other vendors read variables of their own, for example
#   AMD_VISIBLE_DEVICES, ASCEND_VISIBLE_DEVICES and MTHREADS_VISIBLE_DEVICES. If a container sets one of them and asks for
#   no accelerator, it takes devices that no quota counts, often all of the node. If it asks for accelerators, the variable
#   overrides the devices of the device plugin, so the container may get devices of other pods. Variables that only hide
#   devices from a program, for example CUDA_VISIBLE_DEVICES, are allowed. A name like theirs that usher does not know
#   causes a warning. In a container that asks for GPUs, NVIDIA_GDS and NVIDIA_GDRCOPY open drivers for its own GPUs, so
#   another check reports these, in `strict` alone.
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
#   - ref: https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/modifier/cdi.go
#     description: NVIDIA on the variables for drivers and switches
#   - ref: https://www.hiascend.com/document/detail/en/mindcluster/730/clustersched/schedulingug/dlruntime_ug_006.html
#     description: Huawei on the variables of its container runtime
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

deny contains object.union(finding, _assumption_by_name(entry)) if {
	some entry in _set_by_hand
	value := entry.variable.value

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

_assumption(entry) := _assumption_by_name(entry) if not _written_by_kai(entry)

_assumption(entry) := {"assumption": $"usher assumes that only KAI-Scheduler writes ConfigMap {text.excerpt(entry.variable.configMap.name)}"} if {
	_written_by_kai(entry)
}

_assumption_by_name(entry) := {"assumption": $"usher assumes that a container runtime of the node reads {entry.name}"} if {
	isolation.may_give_devices(entry.name)
} else := {}

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
	entry.variable.configMap.key in ["NVIDIA_VISIBLE_DEVICES", "RUNAI-VISIBLE-DEVICES"]
}

deny contains object.union(finding, _assumption_by_name(entry)) if {
	some entry in _brought
	not isolation.gives_nothing(entry.name, entry.value)

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
	some name, variable in container.environment
	_is_read(name)
	not _gives_nothing(name, variable)
	not _for_own_devices(name, container)
	entry := {
		"name": name,
		"podSet": pod_set,
		"container": container,
		"variable": variable,
		"place": workload.container_name(pod_set, container),
	}
]

# Not for a value from elsewhere, which is undefined.
_gives_nothing(name, variable) if isolation.gives_nothing(name, variable.value)

# The container's own entries win, and a later source wins over an earlier one.
_brought := [entry |
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	some container in pod_set.containers
	some name, index in _last_sources(container)
	not _for_own_devices(name, container)
	not container.environment[name]
	source := container.environmentSources[index]
	value := source.variables[name]
	entry := {
		"name": name,
		"container": container,
		"value": value,
		"path": source.path,
		"place": workload.container_name(pod_set, container),
	}
]

_last_sources(container) := object.union_n([{name: index | some name, _ in source.variables; _is_read(name)} |
	some index, source in container.environmentSources
])

_for_own_devices(name, container) if {
	container.asksAccelerators
	name in isolation.variables_for_own_devices
}

_is_read(name) if isolation.gives_devices(name)

_is_read(name) if isolation.may_give_devices(name)

_effect(entry) := effect if {
	effect := _effects[entry.name]
} else := "overrides the devices that the device plugin assigns to the container" if {
	entry.container.asksAccelerators
} else := "takes devices that no quota counts, because the container asks for no accelerator"

_effects := {
	"ASCEND_ALLOW_LINK": "lets the runtime follow links to other files of the node",
	"ASCEND_RUNTIME_MOUNTS": "mounts files of the node that no volume names",
	"HCU_MOFED": "opens all network cards of the node, which no quota counts",
	"NVIDIA_GDRCOPY": "opens a driver of the node that no request names",
	"NVIDIA_GDS": "opens a driver and disks of the node that no request names",
	"NVIDIA_IMEX_CHANNELS": "opens memory of other nodes that no device claim gave to the container",
	"NVIDIA_MOFED": "opens all network cards of the node, which no quota counts",
	"NVIDIA_NVSWITCH": "opens the control of the switches between all GPUs of the node",
}

# Ephemeral containers cannot ask for resources.
_remedy(entry) := "remove NVIDIA_IMEX_CHANNELS, and use a claim of a ComputeDomain" if {
	entry.name == "NVIDIA_IMEX_CHANNELS"
	entry.container.type != "ephemeral container"
} else := $"remove {entry.name}, and ask for network cards by their resource" if {
	entry.name in ["HCU_MOFED", "NVIDIA_MOFED"]
	entry.container.type != "ephemeral container"
} else := $"remove {entry.name}" if {
	_effects[entry.name]
} else := $"remove {entry.name}, and ask for the devices in limits" if {
	not entry.container.asksAccelerators
	entry.container.type != "ephemeral container"
} else := $"remove {entry.name}"

_any(entry) := "open memory of other nodes" if entry.name == "NVIDIA_IMEX_CHANNELS"

else := "open more of the node" if _effects[entry.name]

else := "name any device of the node"
