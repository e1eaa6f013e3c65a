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
	some pod_set in _annotated
	named := _named(pod_set)
	asked := _asked(pod_set)
	named > asked
	not _claims_unread(pod_set)
	some path in _paths(pod_set)

	finding := {
		"path": path,
		"message": $"{workload.pod_set_name(pod_set)} names {named} GPUs in annotations of devices.gke.io, but asks for {asked}",
		"remedy": "ask for as many GPUs in limits of the same pod, or remove the annotation",
	}
}

unknown contains {
	"path": path,
	"reason": $"usher does not know the device claims of {workload.pod_set_name(pod_set)}, so the pod may ask for as many GPUs as its annotations of devices.gke.io name",
} if {
	some pod_set in _annotated
	_named(pod_set) > _asked(pod_set)
	_claims_unread(pod_set)
	some path in _paths(pod_set)
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

# Pod sets one by one, because a search of all annotations for each of them would take the square of their number.
_annotated := [pod_set |
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	count(_paths(pod_set)) > 0
]

_is_of_gke(key) if split(key, "/")[0] == "devices.gke.io"

_paths(pod_set) := {path |
	some key, _ in pod_set.annotations
	_is_of_gke(key)
	path := $"{pod_set.metadataPath}/annotations/{replace(replace(key, "~", "~0"), "/", "~1")}"
}

_named(pod_set) := count({file[0] |
	some key, value in pod_set.annotations
	_is_of_gke(key)
	some file in regex.find_all_string_submatch_n("nvidia[0-9]+", value, -1)
})

_claims_unread(pod_set) if {
	pod_set.deviceClaims > 0
	every request in pod_set.requests {
		request.route != "device claim"
	}
}

_asked(pod_set) := sum([request.minimum.value |
	some request in pod_set.requests
	request.route in ["extended resource", "device claim"]
])
