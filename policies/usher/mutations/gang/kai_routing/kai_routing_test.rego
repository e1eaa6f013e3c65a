package usher.mutations.gang.kai_routing_test

import data.examples.mutations.gang.kai_routing as examples
import data.usher.mutations.gang.kai_routing as mutation

noted(reason) := {{"at": "", "reason": reason}}

needs := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "queues.scheduling.run.ai",
	},
	{"group": "scheduling.run.ai", "kind": "Queue", "name": "research"},
]

scheduler(at) := {
	"at": at,
	"field": "schedulerName",
	"value": {"name": "kai-scheduler"},
	"reason": "all pods of a gang need the same scheduler",
	"needs": needs,
}

queue(kind) := {
	"at": "",
	"field": "label",
	"value": {"key": "kai.scheduler/queue", "value": "research"},
	"reason": $"usher.yaml routes this {kind} of namespace ml-research to queue research as a gang",
	"needs": needs,
}

test_the_object_names_the_queue_and_every_template_the_scheduler if {
	mutation.intents == {
		queue("PyTorchJob"),
		scheduler("/spec/pytorchReplicaSpecs/Master/template"),
		scheduler("/spec/pytorchReplicaSpecs/Worker/template"),
	} with input as examples.before_pytorchjob
}

test_a_job_set_is_a_gang_too if {
	template := "/spec/replicatedJobs/0/template/spec/template"
	mutation.intents == {queue("JobSet"), scheduler(template)} with input as examples.before_jobset
}

test_what_kuberay_makes_up_itself_may_be_placed_by_anybody if {
	mutation.intents == {
		queue("RayJob"),
		scheduler("/spec/rayClusterSpec/headGroupSpec/template"),
		scheduler("/spec/rayClusterSpec/workerGroupSpecs/0/template"),
	} with input as examples.before_rayjob
}

test_a_kind_whose_pods_are_placed_one_by_one_is_not_routed_but_warned_about if {
	reason := "the webhook does not route this object, because KAI-Scheduler cannot make a gang of a Job; use a kind that KAI-Scheduler supports"
	mutation.intents == set() with input as examples.untouched_job
	mutation.warnings == noted(reason) with input as examples.untouched_job
	paddle := object.union(examples.before_pytorchjob, {"workload": {"kind": "PaddleJob"}})
	mutation.intents == set() with input as paddle
}

test_a_template_that_cannot_name_the_scheduler_is_warned_about if {
	reason := "the webhook does not route this object, because it cannot set schedulerName in node; set kai-scheduler in the object that holds this template"
	mutation.intents == set() with input as examples.untouched_trainjob
	mutation.warnings == noted(reason) with input as examples.untouched_trainjob
}

test_a_train_job_whose_runtime_names_the_scheduler_needs_the_queue_only if {
	named := json.patch(examples.untouched_trainjob, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "kai-scheduler"}])
	mutation.intents == {queue("TrainJob")} with input as named
	mutation.warnings == set() with input as named
}

test_a_job_with_another_scheduler_on_any_template_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_on_another_scheduler
	mutation.skips == noted("one of its templates names another scheduler") with input as examples.untouched_pytorchjob_on_another_scheduler
}

test_what_is_not_routed_there_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_elsewhere
	mutation.skips == noted("usher.yaml does not route the workload to KAI-Scheduler") with input as examples.untouched_pytorchjob_elsewhere
}

test_nobody_is_warned_who_is_not_routed_here if {
	elsewhere := json.patch(examples.untouched_job, [{"op": "replace", "path": "/site/route/scheduler", "value": "volcano"}])
	mutation.warnings == set() with input as elsewhere
	alone := json.patch(examples.untouched_job, [{"op": "replace", "path": "/workload/pods/maximum", "value": 1}])
	mutation.warnings == set() with input as alone
	owned := json.patch(elsewhere, [{"op": "replace", "path": "/workload/owned", "value": true}])
	count(mutation.skips) == 1 with input as owned
}

test_pods_that_kai_scheduler_refuses_are_not_routed if {
	halved := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/podSets/1/annotations/gpu-fraction", "value": "0.5"}])
	mutation.intents == set() with input as halved
	mutation.warnings == noted("the webhook does not route this object, because KAI-Scheduler refuses pods that ask for whole GPUs and, by the annotation gpu-fraction, for a part of one; remove either") with input as halved
}
