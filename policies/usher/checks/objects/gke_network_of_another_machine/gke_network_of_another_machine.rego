# METADATA
# title: The GPU network of GKE is that of the machines
# description: |
#   Each machine family of Google with fast networks between GPUs has its own way to use them: A3 High has GPUDirect-TCPX,
#   A3 Mega has GPUDirect-TCPXO, and A3 Ultra, A4 and A4X have RDMA with the plugin gIB. The helper container and the
#   plugin of another family find no device of theirs, so the container ends or NCCL falls back to the slow network. The
#   check compares the annotation that gives the helper its devices, and the variables of these plugins, with the accelerator or the machine type that the pods
#   select.
# scope: package
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx
#     description: Google on GPUDirect-TCPX and GPUDirect-TCPXO
#   - ref: https://cloud.google.com/ai-hypercomputer/docs/create/gke-ai-hypercompute-custom
#     description: Google on RDMA with A3 Ultra and A4
#   - ref: https://github.com/NVIDIA/aicr/issues/2290
#     description: TCPXO on machines that have TCPX
# schemas:
#   - input: schema.input
# custom:
#   code: USH1503
#   about: accelerator pods
#   severity: medium
#   why: Training between nodes does not start, or runs over the slow network.
#   remediation: |
#     Take the helper container, plugin and annotations of the machine family that the pods select, or select the
#     machines of the plugin.
package usher.checks.objects.gke_network_of_another_machine

import data.usher.lib.text
import data.usher.lib.workload

_accelerator := "cloud.google.com/gke-accelerator"

_machine_type := "node.kubernetes.io/instance-type"

_networks := {
	"TCPX": {"name": "GPUDirect-TCPX", "machines": "A3 High"},
	"TCPXO": {"name": "GPUDirect-TCPXO", "machines": "A3 Mega"},
	"gIB": {"name": "RDMA with gIB", "machines": "A3 Ultra, A4 and A4X"},
}

_daemons := {
	"devices.gke.io/container.tcpx-daemon": "TCPX",
	"devices.gke.io/container.tcpxo-daemon": "TCPXO",
}

_variables := {
	"NCCL_FASTRAK_": "TCPXO",
	"NCCL_GPUDIRECTTCPX_": "TCPX",
}

_accelerators := {
	"nvidia-h100-80gb": "TCPX",
	"nvidia-h100-mega-80gb": "TCPXO",
	"nvidia-h200-141gb": "gIB",
	"nvidia-b200": "gIB",
	"nvidia-gb200": "gIB",
}

_families := {
	"a3-highgpu-": "TCPX",
	"a3-megagpu-": "TCPXO",
	"a3-ultragpu-": "gIB",
	"a4-highgpu-": "gIB",
	"a4x-highgpu-": "gIB",
}

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	[key, selected, has] := _selected(pod_set)
	[path, sign, used] := _used(pod_set)
	has != used

	finding := {
		"path": path,
		"message": $"{workload.pod_set_name(pod_set)} has {sign} of {_networks[used].name}, which {_networks[used].machines} has, but selects {key}={text.excerpt(selected)}, which has {_networks[has].name}",
		"remedy": $"use the helper container, the plugin and the variables of {_networks[has].name}, or select {_networks[used].machines}",
	}
}

_used(pod_set) := min(_daemons_of(pod_set) | _variables_of(pod_set))

_daemons_of(pod_set) := {[_path(pod_set, key), $"the annotation {key}", network] |
	some key, network in _daemons
	pod_set.annotations[key]
}

_variables_of(pod_set) := {[variable.path, $"the variable {name}", network] |
	some container in pod_set.containers
	some name, variable in container.environment
	some prefix, network in _variables
	startswith(name, prefix)
}

_selected(pod_set) := [_accelerator, selected, network] if {
	selected := pod_set.nodeSelector[_accelerator]
	network := _accelerators[selected]
} else := [_machine_type, selected, network] if {
	selected := pod_set.nodeSelector[_machine_type]
	some family, network in _families
	startswith(selected, family)
}

_path(pod_set, key) := $"{pod_set.metadataPath}/annotations/{replace(key, "/", "~1")}"
