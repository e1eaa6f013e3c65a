# METADATA
# title: A container asks for one type of accelerator
# description: |
#   The programs of a container use one type of device. CUDA sees either whole GPUs or one MIG slice. If a container
#   asks for whole GPUs, GPU shares and slices of several profiles, it ever uses only one type. NVIDIA's device plugin
#   does not say which one, but all of them are reserved and paid for. No node has accelerators of two vendors, so a pod
#   that asks for both waits forever.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
#     description: NVIDIA on which devices CUDA enumerates
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.7.0-rc.1
#     description: NVIDIA's device plugin on several types of device in one container
# schemas:
#   - input: schema.input
# custom:
#   code: USH112
#   about: accelerator pods
#   severity: medium
#   why: The pod waits for a node that does not exist, or holds devices that it cannot use.
#   closes: [S17]
#   remediation: Ask for one type of accelerator in each container. Use several containers or pods for several types.
package usher.checks.resources.mixed_accelerators

import data.usher.lib.amounts
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	count(container.accelerators) > 1
	types := [name |
		some name, resource in container.accelerators
		amounts.effective(resource).value > 0
		_is_type_of_device(name)
	]
	count(types) > 1

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} asks for {text.names(types, " and ")}, {_effect(types)}",
		"remedy": "ask for one type of accelerator in each container",
	}
}

# Other resources are amounts of memory or cores of a device.
_is_type_of_device(name) if name in [
	"amd.com/gpu",
	"aws.amazon.com/neuron",
	"google.com/tpu",
	"gpu.intel.com/i915",
	"gpu.intel.com/xe",
	"habana.ai/gaudi",
	"nvidia.com/gpu",
	"nvidia.com/gpu.shared",
]

_is_type_of_device(name) if startswith(name, "nvidia.com/mig-")

_effect(types) := "but its programs can use only one type" if _of_one_vendor(types)

_effect(types) := "but no node offers them together" if not _of_one_vendor(types)

_of_one_vendor(types) if {
	vendors := {split(name, "/")[0] | some name in types}
	count(vendors) == 1
}
