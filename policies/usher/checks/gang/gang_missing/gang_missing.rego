# METADATA
# title: The pods of distributed training start together
# description: |
#   Distributed training works only when all of its pods run. Placed one by one, some of them hold their accelerators and
#   wait for the others, and two such jobs can block each other for ever. A queue of Kueue starts the pods together, and
#   so does a scheduler that knows of gangs. Only pods with accelerators count: jobs with one of them, kinds that always
#   form a gang and elastic jobs, which begin with fewer pods, are left alone. What a controller made is left alone,
#   because its owner was judged, and so is what Volcano places, about which another check speaks, and what usher.yaml
#   routes to a scheduler that makes a gang of its kind.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/all_or_nothing/
#     description: Kueue on starting all pods of a job or none
#   - ref: https://volcano.sh/en/docs/gang_scheduling/
#     description: Volcano on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH502
#   about: accelerator pods
#   severity: medium
#   why: Half a training job holds its GPUs and trains nothing while it waits for the other half.
#   closes: [S24]
#   remediation: |
#     Put the job into a queue of Kueue by the label kueue.x-k8s.io/queue-name, or let a scheduler place its pods as a
#     gang: Volcano, KAI-Scheduler, or Kubernetes' own with spec.schedulingGroup. A job whose pods do not wait for each
#     other can say so by the label gpu-usher.io/role: batch.
package usher.checks.gang.gang_missing

import data.usher.lib.kubeflow
import data.usher.lib.kueue
import data.usher.lib.routing
import data.usher.lib.workload

# How a Ray object asks KubeRay for one of the schedulers that place gangs.
_labels_of_ray := [
	"kai.scheduler/queue",
	"ray.io/gang-scheduling-enabled",
	"ray.io/priority-class-name",
	"volcano.sh/network-topology-mode",
	"volcano.sh/queue-name",
]

# Kinds whose operators make gangs if they are told to when they are started.
_operators := {
	"kubeflow.org": "the training operator and the MPI operator run without gang scheduling",
	"ray.io": "KubeRay runs without a batch scheduler",
	"sagemaker.amazonaws.com": "the HyperPod operator makes no gangs",
}

deny contains object.union(finding, _assumption) if {
	_without_gang
	_known
	not _unknown_scheduler

	finding := {
		"path": "",
		"message": $"its {_number} pods with accelerators are placed one by one: neither a queue of Kueue nor a PodGroup holds them together",
		"remedy": _remedy,
	}
}

unknown contains {"path": path, "reason": reason} if {
	_without_gang
	_known
	pod_set := _unknown_scheduler
	path := $"{pod_set.specPath}/schedulerName"
	reason := $"whether scheduler {pod_set.schedulerName} places the pods as a gang is not known here"
}

unknown contains {"path": "/spec/runtimeRef", "reason": reason} if {
	_without_gang
	not _known
	reason := "whether its runtime has a podGroupPolicy is not known here, and without one only a queue of Kueue makes a gang"
}

_without_gang if {
	input.workload.role == "training"
	input.workload.gang.wanted
	input.workload.gang.formedBy == ""
	not input.workload.owned
	not input.workload.isTemplate
	not _queued
	not _left_to_others
	not _few_or_elastic
}

# What is to be in a queue and is not is told by another check.
_queued if kueue.in_queue

_queued if {
	input.workload.queueLabelPath
	input.site.queue
}

# What usher.yaml routes becomes a gang, unless it names another scheduler, of which another check speaks.
_left_to_others if routing.makes_gang

_left_to_others if kubeflow.scheduling_policy

_left_to_others if {
	input.workload.group == "ray.io"
	some label in _labels_of_ray
	input.workload.labels[label]
}

_left_to_others if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}

_left_to_others if {
	some pod_set in input.podSets
	pod_set.schedulerName == "kai-scheduler"
}

# Of a TrainJob the pods and what makes them a gang stand in a runtime, below whose name they are where it is known.
_known if input.workload.kind != "TrainJob"

_known if {
	some pod_set in input.podSets
	startswith(pod_set.specPath, "/spec/runtimeRef/name/")
}

_few_or_elastic if {
	_known
	some pod_set in workload.accelerator_pod_sets
	object.get(pod_set.pods, "maximum", -1) != pod_set.pods.minimum
}

_few_or_elastic if {
	_known
	_number < 2
}

_few_or_elastic if kubeflow.job.spec.elasticPolicy.minReplicas < _number

_number := sum([pod_set.pods.minimum | some pod_set in workload.accelerator_pod_sets])

_unknown_scheduler := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.schedulerName in {"", "default-scheduler"}
][0]

default _assumption := {}

_assumption := {"assumption": _operators[input.workload.group]}

_remedy := "set the label kueue.x-k8s.io/queue-name, or let a gang scheduler place the pods" if {
	input.workload.queueLabelPath
} else := "let a gang scheduler place the pods"
