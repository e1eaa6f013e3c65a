# METADATA
# title: GKE device annotations name no more GPUs than the pod asks for
# description: |
#   GKE's device injector gives a container the device files that an annotation of its pod lists, whatever the pod asks
#   for. The annotation devices.gke.io/container.<name> applies to one container; devices.gke.io/pod and devices.gke.io
#   apply to all containers. Recipes for GPUDirect give all GPUs of a node to a helper container, beside the container
#   that asks for all of them. If the pod asks for fewer GPUs than it names, it takes GPUs of other pods. Files that are
#   not GPUs, for example /dev/nvidiactl, do not count. To allow this in monitoring namespaces, which need to see all
#   GPUs, name them in usher.yaml under `isolation.visibleDevices`.
# scope: package
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx
#     description: Google on GPUDirect, with the annotation
#   - ref: https://github.com/GoogleCloudPlatform/container-engine-accelerators/tree/master/nri_device_injector
#     description: Google on its device injector
# schemas:
#   - input: schema.input
# custom:
#   code: USH210
#   about: labelled pods
#   severity: high
#   why: The pod takes GPUs that belong to other pods.
#   closes: [B9]
#   remediation: Remove the annotation, or let a container of the same pod ask for as many GPUs as the annotation names.
package usher.checks.isolation.gke_device_annotations

import data.usher.lib.isolation
import data.usher.lib.workload

deny contains finding if {
	some entry in _annotations
	named := _named(entry.podSet)
	named > _asked(entry.podSet)
	not _claims_unread(entry.podSet)

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} names {named} GPUs in annotations of devices.gke.io, but asks for {_asked(entry.podSet)}",
		"remedy": "ask for as many GPUs in limits of the same pod, or remove the annotation",
	}
}

unknown contains {
	"path": entry.path,
	"reason": $"usher does not know the device claims of {workload.pod_set_name(entry.podSet)}, so the pod may ask for as many GPUs as its annotations of devices.gke.io name",
} if {
	some entry in _annotations
	_named(entry.podSet) > _asked(entry.podSet)
	_claims_unread(entry.podSet)
}

# In YAML any letter of a path can be an escape sequence.
unknown contains {
	"path": entry.path,
	"reason": $"usher cannot read the devices in the annotation {entry.key} of {workload.pod_set_name(entry.podSet)}, because it contains a backslash",
} if {
	some entry in _annotations
	contains(entry.value, "\\")
}

_annotations := [entry |
	some entry in isolation.device_annotations
	entry.domain == "devices.gke.io"
	not isolation.may_see_all_devices
]

_named(pod_set) := count({file[0] |
	some entry in _annotations
	entry.podSet.path == pod_set.path
	some file in regex.find_all_string_submatch_n("nvidia[0-9]+", entry.value, -1)
})

_claims_unread(pod_set) if {
	pod_set.deviceClaims > 0
	every request in pod_set.requests {
		request.route != "device claim"
	}
}

_asked(pod_set) := sum([request.minimum.value |
	some request in pod_set.requests
	request.route in {"extended resource", "device claim"}
])
