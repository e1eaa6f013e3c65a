# METADATA
# title: Shares of a GPU are asked for where their scheduler places the pods
# description: |
#   The annotations gpu-fraction and gpu-memory ask KAI-Scheduler, or run:ai, for a part of a GPU. No other scheduler
#   reads them: it places the pod as one without GPUs, so that it gets none or, by its image, all of the node, and nothing
#   counts or bounds the share. KubeRay names KAI-Scheduler itself in the pods of a cluster that has the label
#   kai.scheduler/queue.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md
#     description: KAI-Scheduler on sharing GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH211
#   about: accelerator pods
#   severity: medium
#   why: The share is neither given nor bounded, and nobody counts it.
#   closes: [B10]
#   parameters:
#     schedulers:
#       default: [kai-scheduler, runai-scheduler]
#       description: Schedulers that read the annotations gpu-fraction and gpu-memory.
#   remediation: |
#     Set schedulerName to kai-scheduler on the template, with its queue in the label kai.scheduler/queue; or remove the
#     annotation, and ask for whole GPUs or slices in limits.
package usher.checks.isolation.fraction_without_its_scheduler

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some request in pod_set.requests
	request.route == "fraction annotation"
	not pod_set.schedulerName in _schedulers
	not _set_by_kuberay(pod_set)

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} asks for a share of a GPU by the annotation {request.name}, which {_scheduler(pod_set)} does not read",
		"remedy": "set schedulerName to a scheduler that shares GPUs, or ask for whole ones or slices in limits",
	}
}

_schedulers := parameters.isolation.fraction_without_its_scheduler.schedulers

_set_by_kuberay(pod_set) if {
	pod_set.schedulerName == ""
	input.workload.group == "ray.io"
	input.workload.labels["kai.scheduler/queue"]
}

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := "the default scheduler" if pod_set.schedulerName == ""
