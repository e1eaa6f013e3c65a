# METADATA
# title: Memory is larger than the model
# description: |
#   The weights of a model pass through the memory of the container while the model loads, and the loading program also
#   needs memory. A manifest does not show the size of the model. The annotation gpu-usher.io/model-size declares what
#   one pod loads, as a quantity like 28Gi, on the pod template or on the object. Of several containers with
#   accelerators, the check takes the one with the most memory as the one that loads the model. It uses the memory limit
#   of that container or of the pod as a whole, or else the request. Where no memory is set, another check reports it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource/
#     description: Kubernetes on what happens to a container that exceeds its memory
# schemas:
#   - input: schema.input
# custom:
#   code: USH108
#   about: accelerator pods
#   severity: medium
#   why: The container is killed again and again while it loads, and its GPUs idle.
#   closes: [S12]
#   parameters:
#     bufferPercent:
#       default: 20
#       description: Memory that must remain beyond the size of the model, in percent of that size.
#   remediation: |
#     Raise the memory limit. Or correct the annotation gpu-usher.io/model-size if it declares more than one pod loads.
package usher.checks.resources.model_memory_buffer

import data.usher.lib.amounts
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

_gi := 1073741824

_annotation := "gpu-usher.io/model-size"

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	size := _holder(pod_set).modelSize.value
	of_containers := [entry |
		some container in pod_set.containers
		container.asksAccelerators
		entry := {"container": container, "bytes": _memory(pod_set, container)}
	]
	largest := max([entry.bytes | some entry in of_containers])
	needed := (size * (100 + _buffer)) / 100
	largest < needed
	container := [entry.container | some entry in of_containers; entry.bytes == largest][0]

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} has {amounts.bytes(largest)} of memory to load a model of {amounts.bytes(size)}; with a buffer of {_buffer} % it needs {amounts.bytes(needed)}",
		"remedy": $"raise its memory limit to {ceil(needed / _gi)}Gi or more",
	}
}

unknown contains {
	"path": $"{holder.metadataPath}/annotations/gpu-usher.io~1model-size",
	"reason": $"{text.excerpt(holder.annotations[_annotation])} is not a model size; write a quantity like 28Gi",
} if {
	some pod_set in workload.accelerator_pod_sets
	holder := _holder(pod_set)
	not holder.modelSize
}

_buffer := parameters.resources.model_memory_buffer.bufferPercent

# The template holds the annotation, or else the object.
_holder(pod_set) := pod_set if pod_set.annotations[_annotation]

_holder(pod_set) := object.union(input.workload, {"metadataPath": "/metadata"}) if {
	not pod_set.annotations[_annotation]
	input.workload.annotations[_annotation]
}

_memory(_, container) := container.resources.memory.limits.value

_memory(pod_set, container) := pod_set.podLimits.memory.value if not container.resources.memory.limits

_memory(pod_set, container) := container.resources.memory.requests.value if {
	not container.resources.memory.limits
	not pod_set.podLimits.memory
}

_memory(pod_set, container) := pod_set.podRequests.memory.value if {
	not container.resources.memory
	not pod_set.podLimits.memory
}
