# METADATA
# title: Memory holds the model and something to spare
# description: |
#   While a model is loaded its weights pass through the memory of the container, and what reads them needs some as well.
#   How large the model is, nobody can see in a manifest: the annotation gpu-usher.io/model-size says it, on the pod
#   template or on the object, as a quantity such as 28Gi, and it means what one pod loads. Of several containers with
#   accelerators the one with the most memory is taken for the one that loads it. Its limit of memory counts, or that of
#   the pod as a whole, or else what is requested. Where nothing says anything of memory, another check does.
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
#   why: The container is killed while it loads, again and again, with its GPUs idle.
#   closes: [S12]
#   parameters:
#     bufferPercent:
#       default: 20
#       description: What there must be beyond the size of the model, in percent of it.
#   remediation: |
#     Raise the limit of memory, or correct the annotation gpu-usher.io/model-size where it says more than one pod loads.
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
		"message": $"{workload.container_name(pod_set, container)} has {amounts.bytes(largest)} of memory to load a model of {amounts.bytes(size)}; with {_buffer} % to spare it needs {amounts.bytes(needed)}",
		"remedy": $"raise its limit of memory to {ceil(needed / _gi)}Gi or more",
	}
}

unknown contains {
	"path": $"{holder.metadataPath}/annotations/gpu-usher.io~1model-size",
	"reason": $"{text.excerpt(holder.annotations[_annotation])} is no size of a model; write a quantity such as 28Gi",
} if {
	some pod_set in workload.accelerator_pod_sets
	holder := _holder(pod_set)
	not holder.modelSize
}

_buffer := parameters.resources.model_memory_buffer.bufferPercent

# What holds the annotation: the template, or else the object.
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
