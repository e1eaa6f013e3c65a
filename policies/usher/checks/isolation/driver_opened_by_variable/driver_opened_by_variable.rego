# METADATA
# title: No variable opens a driver or files of the node for a container
# description: |
#   NVIDIA_GDS and NVIDIA_GDRCOPY with the value `enabled` give a container with GPUs the device files of two drivers: one
#   reads disks and network storage, the other maps memory of GPUs. ASCEND_RUNTIME_MOUNTS mounts what a list of the node
#   names, and ASCEND_ALLOW_LINK follows links there. They give no devices of other pods, but no request, quota or
#   volume shows them. The check looks at containers that ask for accelerators; another check reports these variables in
#   all others.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/modifier/cdi.go
#     description: NVIDIA on the variables for drivers
#   - ref: https://www.hiascend.com/document/detail/en/mindcluster/730/clustersched/schedulingug/dlruntime_ug_006.html
#     description: Huawei on the variables of its container runtime
# schemas:
#   - input: schema.input
# custom:
#   code: USH225
#   about: accelerator pods
#   severity: medium
#   strict_only: Stacks for serving models set these variables, and most sites mean all containers with GPUs to have the drivers.
#   why: The container reaches a driver or files of the node that nothing in its manifest asks for.
#   closes: [B1]
#   remediation: |
#     Remove the variable. If all containers with accelerators may have the driver, turn the check off in usher.yaml.
package usher.checks.isolation.driver_opened_by_variable

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in _opened
	not isolation.gives_nothing(entry.name, entry.variable.value)

	finding := {
		"path": entry.variable.path,
		"message": $"{entry.place}: {entry.name} {text.excerpt(entry.variable.value)} opens more of the node than the container asks for",
		"remedy": $"remove {entry.name}",
	}
}

deny contains finding if {
	some entry in _opened
	not entry.variable.value

	finding := {
		"path": entry.variable.path,
		"message": $"{entry.place}: {entry.name} takes its value from elsewhere (valueFrom or $(NAME)), so it can open more of the node",
		"remedy": $"remove {entry.name}",
	}
}

_opened := [entry |
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	some container in pod_set.containers
	container.asksAccelerators
	some name in isolation.variables_for_own_devices
	variable := container.environment[name]
	entry := {"name": name, "variable": variable, "place": workload.container_name(pod_set, container)}
]
