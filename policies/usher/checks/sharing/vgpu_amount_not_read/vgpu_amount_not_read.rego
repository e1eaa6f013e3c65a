# METADATA
# title: Volcano reads the amounts of a virtual GPU
# description: |
#   Volcano before 1.14 reads volcano.sh/vgpu-memory-percentage, but reserves no memory for values below 100, so that
#   other pods get the same memory and the container has no limit. Beside volcano.sh/vgpu-memory, Volcano before 1.14
#   ignores the percentage, and later versions ignore the memory. No version gives a GPU to a container that asks for the
#   percentage or for volcano.sh/vgpu-cores alone. The parameter names the version of the cluster; with 1.14 or later, a
#   percentage alone is good.
# scope: package
# related_resources:
#   - ref: https://github.com/volcano-sh/volcano/issues/3465
#     description: Volcano on the percentage
#   - ref: https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/api/devices/util.go
#     description: Volcano on the resources that it reads
# schemas:
#   - input: schema.input
# custom:
#   code: USH812
#   about: accelerator pods
#   severity: medium
#   why: Pods on one GPU take each other's memory, or the container starts without a GPU.
#   closes: [B43]
#   parameters:
#     version:
#       default: ""
#       description: Version of Volcano in the cluster, for example 1.14.0; empty if it is not known.
#   remediation: Ask for volcano.sh/vgpu-number, and for its memory in volcano.sh/vgpu-memory (MiB).
package usher.checks.sharing.vgpu_amount_not_read

import data.usher.lib.amounts
import data.usher.lib.mig
import data.usher.lib.parameters
import data.usher.lib.workload

_percentage := "volcano.sh/vgpu-memory-percentage"

_memory := "volcano.sh/vgpu-memory"

deny contains object.union(finding, _assumption) if {
	_names_parts
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	percentage := _amount(container, _percentage)
	percentage < 100
	_amount(container, _memory) == 0
	_amount(container, "volcano.sh/vgpu-number") > 0
	not _is_new

	finding := {
		"path": mig.path(container, _percentage),
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of the memory of a GPU, but Volcano before 1.14 reserves no memory for it",
		"remedy": $"ask for {_memory} in MiB",
	}
}

deny contains finding if {
	_names_parts
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	percentage := _amount(container, _percentage)
	memory := _amount(container, _memory)
	memory > 0

	finding := {
		"path": mig.path(container, _percentage),
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of the memory of a GPU and for {memory} MiB: Volcano before 1.14 ignores the percentage, and later versions the other",
		"remedy": $"keep {_memory}",
	}
}

deny contains finding if {
	_names_parts
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	some name in [_percentage, "volcano.sh/vgpu-cores"]
	_amount(container, name) > 0
	every other in ["volcano.sh/vgpu-number", _memory] { _amount(container, other) == 0 }

	finding := {
		"path": mig.path(container, name),
		"message": $"{workload.container_name(pod_set, container)} asks for {name} without volcano.sh/vgpu-number, so Volcano gives it no GPU",
		"remedy": "add volcano.sh/vgpu-number: 1",
	}
}

_names_parts if {
	some entry in workload.accelerator_resources
	entry.name in [_percentage, "volcano.sh/vgpu-cores"]
}

_amount(container, name) := value if {
	value := amounts.effective(container.accelerators[name]).value
} else := 0 if name != _percentage

_version := [to_number(part) |
	some part in split(parameters.sharing.vgpu_amount_not_read.version, ".")
	regex.match("^[0-9]{1,6}$", part)
]

_is_new if array.slice(_version, 0, 2) >= [1, 14]

default _assumption := {}

_assumption := {"assumption": "usher assumes that Volcano is older than 1.14"} if _version == []
