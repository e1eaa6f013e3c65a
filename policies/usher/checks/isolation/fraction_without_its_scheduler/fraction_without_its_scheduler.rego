# METADATA
# title: Pods that ask for a fraction of a GPU name a scheduler that reads it
# description: |
#   The annotations gpu-fraction and gpu-memory ask KAI-Scheduler or run:ai for a part of a GPU. Other schedulers ignore
#   them and place the pod as one without GPUs. The pod then gets no GPU, or all GPUs of the node, depending on its
#   image. The share is neither counted nor limited. In a RayCluster with the label kai.scheduler/queue, KubeRay itself
#   names KAI-Scheduler in the pods.
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
#   why: The scheduler ignores the fraction, so no quota counts or limits it.
#   closes: [B10]
#   parameters:
#     schedulers:
#       default: [kai-scheduler, runai-scheduler]
#       description: Schedulers that read the annotations gpu-fraction and gpu-memory.
#   remediation: |
#     Set schedulerName to kai-scheduler on the template, and name its queue in the label kai.scheduler/queue. Or remove
#     the annotation, and ask for whole GPUs or slices in limits.
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
		"message": $"{workload.pod_set_name(pod_set)} asks for a share of a GPU by the annotation {request.name}, but {_scheduler(pod_set)} does not read this annotation",
		"remedy": "set schedulerName to a scheduler that shares GPUs, or ask for whole GPUs or slices in limits",
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
