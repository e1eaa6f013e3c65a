# METADATA
# title: The pods of distributed training start together
# description: |
#   Distributed training works only when all its pods run. If a scheduler places the pods one by one, some pods hold
#   their accelerators and wait for the others. Two jobs in this state can block each other forever. A queue of Kueue
#   starts the pods together, and so does a gang scheduler.
#
#   The check looks at training, and at an Indexed Job whose pods wait for each other: its template has a subdomain, so
#   the pods have host names, or a variable with the address of the first pod.
#   The check counts only pods with accelerators. It ignores jobs with one of these pods, jobs that fill one TPU slice
#   of GKE, kinds that always form a gang, and elastic jobs, which start with fewer pods. It ignores Jobs with more
#   completions than parallelism, alone or in a JobSet, because their later pods start when others have ended. It
#   ignores objects that a controller made, because it judges their owner. It ignores workloads that usher.yaml routes
#   to a scheduler that makes gangs of their kind. Another check looks at pods that Volcano places.
#
#   The operators of Kubeflow, Ray, HyperPod and AppWrapper make gangs if their start options say so. Ray also runs on
#   the nodes that it has so far, and its program decides how many it waits for. Where usher.yaml declares neither pools
#   nor routes, the finding about Ray's objects is only a note.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/all_or_nothing/
#     description: Kueue on starting all pods of a job together
#   - ref: https://volcano.sh/en/docs/gang_scheduling/
#     description: Volcano on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH502
#   about: accelerator pods
#   severity: medium
#   why: Some pods of the job hold their GPUs and wait for the others, and the job trains nothing.
#   closes: [S24]
#   remediation: |
#     Put the job into a queue of Kueue by the label kueue.x-k8s.io/queue-name. Or let a scheduler place its pods as a
#     gang: Volcano, KAI-Scheduler, or Kubernetes' own with spec.schedulingGroup. If the pods do not wait for each
#     other, set the label gpu-usher.io/role: batch, and remove subdomain from the template of an Indexed Job.
package usher.checks.gang.gang_missing

import data.usher.lib.kubeflow
import data.usher.lib.kueue
import data.usher.lib.routing
import data.usher.lib.workload

# A Ray object asks KubeRay for a gang scheduler by these labels.
_labels_of_ray := [
	"kai.scheduler/queue",
	"ray.io/gang-scheduling-enabled",
	"ray.io/priority-class-name",
	"volcano.sh/network-topology-mode",
	"volcano.sh/queue-name",
]

# The operators of these groups make gangs only if their start options say so.
_operators := {
	"kubeflow.org": "usher assumes that the training operator and the MPI operator run without gang scheduling",
	"ray.io": "usher assumes that KubeRay runs without a batch scheduler",
	"sagemaker.amazonaws.com": "usher assumes that the HyperPod operator makes no gangs",
	"workload.codeflare.dev": "usher assumes that the operators of the objects inside make no gangs",
}

deny contains finding if {
	_without_gang
	_alone_in_kai

	finding := {
		"path": "",
		"message": $"KAI-Scheduler makes a group of 1 pod for each pod of a batch Job, so it places the {_number} pods with accelerators one by one",
		"remedy": $"set the annotation kai.scheduler/batch-min-member to {_number}",
	}
}

deny contains object.union(finding, _assumption) if {
	_without_gang
	_known
	not _unknown_scheduler
	not _alone_in_kai

	finding := {
		"path": "",
		"message": $"the scheduler places the {_number} pods with accelerators one by one, because the workload has no queue of Kueue and no PodGroup",
		"remedy": _remedy,
	}
}

unknown contains {"path": path, "reason": reason} if {
	_without_gang
	_known
	not _alone_in_kai
	pod_set := _unknown_scheduler
	path := $"{pod_set.specPath}/schedulerName"
	reason := $"usher does not know whether the scheduler {pod_set.schedulerName} places the pods as a gang"
}

unknown contains {"path": "/spec/runtimeRef", "reason": reason} if {
	_without_gang
	not _known
	reason := "usher does not know whether the runtime has a podGroupPolicy; without it only a queue of Kueue makes a gang"
}

_without_gang if {
	_waits
	input.workload.gang.wanted
	input.workload.gang.formedBy == ""
	not input.workload.owned
	not input.workload.isTemplate
	not _queued
	not _gang_made_elsewhere
	not _few_or_elastic
	not _one_tpu_slice
}

_waits if input.workload.role == "training"

# Other kinds whose pods wait may say by their role that these do not.
_waits if {
	input.workload.role == "batch"
	input.workload.group == "batch"
	input.workload.gang.waits
}

# Another check reports a workload that belongs in a queue and names no queue.
_queued if kueue.in_queue

_queued if {
	input.workload.queueLabelPath
	input.site.queue
}

# A workload that usher.yaml routes becomes a gang. If it names another scheduler, another check reports it.
_gang_made_elsewhere if routing.makes_gang

_gang_made_elsewhere if kubeflow.scheduling_policy

_gang_made_elsewhere if {
	input.workload.group == "ray.io"
	some label in _labels_of_ray
	input.workload.labels[label]
}

_gang_made_elsewhere if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
}

_gang_made_elsewhere if {
	some pod_set in input.podSets
	pod_set.schedulerName == "kai-scheduler"
	not _alone_in_kai
}

# pkg/podgrouper/podgrouper/plugins/job of kai-scheduler/KAI-Scheduler.
_alone_in_kai if {
	[input.workload.group, input.workload.kind] == ["batch", "Job"]
	not input.workload.annotations["kai.scheduler/batch-min-member"]
	every pod_set in input.podSets {
		pod_set.schedulerName == "kai-scheduler"
		not pod_set.annotations["kai.scheduler/batch-min-member"]
	}
}

# The runtime of a TrainJob defines its pods and their gang. If usher knows the runtime, their paths are below its name.
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

# GKE makes the nodes of a TPU slice together, and the pods of one job fill them: the slice is the gang.
_one_tpu_slice if {
	every pod_set in workload.accelerator_pod_sets {
		_chips(pod_set) == pod_set.pods.minimum * pod_set.accelerators["google.com/tpu"]
	}
}

_chips(pod_set) := product([to_number(side) | some side in split(topology, "x")]) if {
	topology := pod_set.nodeSelector["cloud.google.com/gke-tpu-topology"]
	regex.match(`^[0-9]{1,4}(x[0-9]{1,4}){1,2}$`, topology)
}

_number := sum([pod_set.pods.minimum | some pod_set in workload.accelerator_pod_sets])

_unknown_scheduler := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.schedulerName in ["", "default-scheduler"]
][0]

default _assumption := {}

_assumption := object.union({"assumption": _operators[input.workload.group]}, _noted)

# Ray starts with the nodes that it has, and the program decides how many it waits for.
default _noted := {}

_noted := {"noted": true} if {
	input.workload.group == "ray.io"
	not input.site.gangSchedulers
	not _pools_declared
}

_pools_declared if {
	some pod_set in input.podSets
	pod_set.poolsDeclared
}

_remedy := "set the label kueue.x-k8s.io/queue-name, or let a gang scheduler place the pods" if {
	input.workload.queueLabelPath
} else := "let a gang scheduler place the pods"
