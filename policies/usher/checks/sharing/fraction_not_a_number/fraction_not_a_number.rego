# METADATA
# title: KAI-Scheduler can read the part of a GPU
# description: |
#   The annotation gpu-fraction is a part of a GPU, a number above 0 and below 1. The annotation gpu-memory is a whole
#   number of MiB, and gpu-fraction-num-devices a whole number of GPUs. The webhook of KAI-Scheduler refuses other values,
#   but older versions let NaN in (0.16.2 and before, and their backports): a pod with it takes a GPU that no queue
#   counts. usher refuses these values for all versions.
# scope: package
# related_resources:
#   - ref: https://github.com/kai-scheduler/KAI-Scheduler/pull/1805
#     description: KAI-Scheduler on fractions that are not numbers
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/pkg/binder/plugins/gpusharing/gpu-request/gpu_request_validator.go
#     description: KAI-Scheduler on the values that it accepts
# schemas:
#   - input: schema.input
# custom:
#   code: USH814
#   about: labelled pods
#   severity: high
#   why: KAI-Scheduler refuses the pod, or gives it a GPU that no queue counts.
#   closes: [B10]
#   remediation: Write a number between 0 and 1, for example 0.5, or the memory in MiB in gpu-memory.
package usher.checks.sharing.fraction_not_a_number

import data.usher.lib.kai
import data.usher.lib.text
import data.usher.lib.workload

_annotations := {
	"gpu-fraction": {"wanted": "a number above 0 and below 1", "like": `^\+?0*\.[0-9]+$|^\+?[0-9.]+[eE]-[0-9]+$`, "remedy": "write a part of a GPU, for example 0.5"},
	"gpu-memory": {"wanted": "a whole number of MiB", "like": `^0*[1-9][0-9]*$`, "remedy": "write the memory in MiB, for example 4096"},
	"gpu-fraction-num-devices": {"wanted": "a whole number of GPUs", "like": `^0*[1-9][0-9]*$`, "remedy": "write 1 or more"},
}

deny contains finding if {
	kai.places_pods
	some pod_set in input.podSets
	_asks(pod_set)

	# usher reads the values as KAI-Scheduler does; a request is there only if it can read all of them.
	every request in pod_set.requests { request.route != "fraction annotation" }
	some name, row in _annotations
	value := pod_set.annotations[name]
	not regex.match(row.like, value)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations/{name}",
		"message": $"{workload.pod_set_name(pod_set)} has {name} {text.excerpt(value)}, which is not {row.wanted}, so KAI-Scheduler refuses it or counts it nowhere",
		"remedy": row.remedy,
	}
}

deny contains finding if {
	kai.places_pods
	some pod_set in input.podSets
	fraction := pod_set.annotations["gpu-fraction"]
	pod_set.annotations["gpu-memory"]

	finding := {
		"path": $"{pod_set.metadataPath}/annotations/gpu-memory",
		"message": $"{workload.pod_set_name(pod_set)} has gpu-memory beside gpu-fraction {text.excerpt(fraction)}, so KAI-Scheduler refuses it",
		"remedy": "keep one of gpu-fraction and gpu-memory",
	}
}

_asks(pod_set) if {
	some name in ["gpu-fraction", "gpu-memory"]
	pod_set.annotations[name]
}
