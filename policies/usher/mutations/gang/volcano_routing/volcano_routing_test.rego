package usher.mutations.gang.volcano_routing_test

import data.examples.mutations.gang.volcano_routing as examples
import data.usher.mutations.gang.volcano_routing as mutation

skipped(reason) := {{"at": "", "reason": reason}}

warned(reason) := {{"at": "", "reason": reason}}

with_route(document, changes) := object.union(document, {"site": {"route": changes}})

needs := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "podgroups.scheduling.volcano.sh",
	},
	{"group": "scheduling.volcano.sh", "kind": "Queue", "name": "research"},
]

scheduler_for(at, value) := {
	"at": at,
	"field": "schedulerName",
	"value": value,
	"reason": "all pods of a gang need the same scheduler",
	"needs": needs,
}

scheduler(at) := scheduler_for(at, {"name": "volcano"})

# Of kinds into whose templates the API server writes the default scheduler.
own_scheduler(at) := scheduler_for(at, {"name": "volcano", "instead": "default-scheduler"})

gang_of(kind, value) := {
	"at": "",
	"field": "gangSetting",
	"value": value,
	"reason": $"usher.yaml routes this {kind} of namespace ml-research to queue research as a gang",
	"needs": needs,
}

gang(kind, setting, value) := gang_of(kind, {"setting": setting, "value": value})

pytorchjob := {
	scheduler("/spec/pytorchReplicaSpecs/Master/template"),
	scheduler("/spec/pytorchReplicaSpecs/Worker/template"),
	gang("PyTorchJob", "queue", "research"),
}

test_all_pods_of_a_pytorchjob_form_a_gang if {
	mutation.intents == pytorchjob with input as examples.before_pytorchjob
}

test_the_launcher_of_an_mpijob_belongs_to_the_gang if {
	mutation.intents == {
		scheduler("/spec/mpiReplicaSpecs/Launcher/template"),
		scheduler("/spec/mpiReplicaSpecs/Worker/template"),
		gang("MPIJob", "queue", "research"),
	} with input as examples.before_mpijob
}

test_an_elastic_job_is_routed_like_any_other if {
	mutation.intents == pytorchjob with input as examples.before_elastic_pytorchjob
}

test_the_number_of_pods_is_written_down_where_the_route_asks_for_it if {
	counted := with_route(examples.before_pytorchjob, {"setsMinimum": true})
	mutation.intents == pytorchjob | {gang("PyTorchJob", "minimum", 4)} with input as counted
}

test_a_job_counts_its_pods_itself_and_its_pods_name_the_queue if {
	mutation.intents == {
		own_scheduler("/spec/template"),
		gang("Job", "queue", "research"),
		gang("Job", "minimum", "4"),
	} with input as examples.before_job
}

test_a_stateful_set_that_makes_its_pods_at_once_is_routed_as_a_job_is if {
	mutation.intents == {
		own_scheduler("/spec/template"),
		gang("StatefulSet", "queue", "research"),
		gang("StatefulSet", "minimum", "4"),
	} with input as examples.before_stateful_set
}

test_a_stateful_set_that_makes_its_pods_in_order_is_not_routed_but_warned_about if {
	reason := "the webhook does not route this object, because Kubernetes makes its pods in order and Volcano would wait for all of them; set podManagementPolicy to Parallel"
	mutation.intents == set() with input as examples.untouched_stateful_set_in_order
	mutation.warnings == warned(reason) with input as examples.untouched_stateful_set_in_order
}

deployment(strategy) := object.union(
	examples.untouched_deployment,
	{
		"site": examples.before_job.site,
		"object": {"deployment": {"spec": {"strategy": strategy}}},
	},
)

test_a_deployment_that_is_made_anew_is_routed if {
	mutation.intents == {
		own_scheduler("/spec/template"),
		gang("Deployment", "queue", "research"),
		gang("Deployment", "minimum", "2"),
	} with input as deployment({"type": "Recreate"})
}

test_a_deployment_with_rolling_updates_is_not_routed_but_warned_about if {
	reason := "the webhook does not route this object, because a rolling update would make a second gang that waits for pods while the first gang blocks them; set strategy.type to Recreate"
	mutation.intents == set() with input as deployment({})
	mutation.warnings == warned(reason) with input as deployment({})
	mutation.warnings == warned(reason) with input as deployment({"type": "RollingUpdate"})
}

test_a_ray_cluster_carries_a_label_and_kuberay_does_the_rest if {
	mutation.intents == {gang("RayCluster", "queue", "research")} with input as examples.before_raycluster
	mutation.intents == {gang("RayJob", "queue", "research")} with input as examples.before_rayjob
	counted := with_route(examples.before_raycluster, {"setsMinimum": true})
	mutation.intents == {gang("RayCluster", "queue", "research")} with input as counted
}

test_a_ray_job_on_a_running_cluster_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_rayjob_on_a_running_cluster
	mutation.skips == skipped("the workload has only one pod, which needs no gang") with input as examples.untouched_rayjob_on_a_running_cluster
}

test_each_group_of_a_leader_worker_set_is_a_gang_whose_size_stays if {
	both := {
		scheduler("/spec/leaderWorkerTemplate/leaderTemplate"),
		scheduler("/spec/leaderWorkerTemplate/workerTemplate"),
		gang("LeaderWorkerSet", "queue", "research"),
	}
	mutation.intents == both with input as examples.before_leader_worker_set
	mutation.intents == both with input as with_route(examples.before_leader_worker_set, {"setsMinimum": true})
}

test_groups_of_one_pod_are_no_gangs if {
	mutation.intents == set() with input as examples.untouched_leader_worker_set_of_single_pods
	mutation.skips == skipped("each of its groups has only one pod, which needs no gang") with input as examples.untouched_leader_worker_set_of_single_pods
	unsaid := json.remove(examples.untouched_leader_worker_set_of_single_pods, ["/workload/gang/minimum"])
	mutation.intents == set() with input as unsaid
}

test_the_operator_of_spark_is_told_by_its_own_fields if {
	mutation.intents == {
		gang("SparkApplication", "queue", "research"),
		gang("SparkApplication", "scheduler", "volcano"),
	} with input as examples.before_spark_application
}

test_operators_that_know_volcano_by_one_name_are_not_sent_to_another if {
	elsewhere := with_route(examples.before_spark_application, {"schedulerName": "volcano-2"})
	mutation.intents == set() with input as elsewhere
	mutation.warnings == warned("the webhook does not route this object to volcano-2, because its operator supports only the scheduler name volcano; use volcano in usher.yaml") with input as elsewhere
	count(mutation.warnings) == 1 with input as with_route(examples.before_rayjob, {"schedulerName": "volcano-2"})
}

test_a_volcano_job_needs_its_queue_only if {
	queue := gang_of("Job", {"setting": "queue", "value": "research", "instead": "default"})
	mutation.intents == {queue} with input as examples.before_volcano_job
	mutation.intents == {queue} with input as with_route(examples.before_volcano_job, {"setsMinimum": true})
}

test_a_volcano_job_is_told_of_a_volcano_of_another_name if {
	elsewhere := with_route(examples.before_volcano_job, {"schedulerName": "volcano-2"})
	mutation.intents == {
		gang_of("Job", {"setting": "queue", "value": "research", "instead": "default"}),
		gang("Job", "scheduler", "volcano-2"),
	} with input as elsewhere
}

test_a_volcano_job_with_another_scheduler_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_volcano_job_on_another_scheduler
	mutation.skips == skipped("one of its templates names another scheduler") with input as examples.untouched_volcano_job_on_another_scheduler
}

test_a_job_flow_is_not_routed_but_its_templates_are if {
	flow := json.patch(examples.before_volcano_job, [{"op": "remove", "path": "/workload/gangPlaces/queue"}])
	mutation.intents == set() with input as flow
	mutation.warnings == warned("the webhook does not route this object, because the JobTemplates of its flows name the queue; route kind JobTemplate") with input as flow
}

test_a_train_job_is_routed_only_on_a_runtime_that_makes_a_gang if {
	reason := "the webhook does not route this object, because usher does not know that its runtime makes a PodGroup of Volcano; use a runtime with spec.podGroupPolicy.volcano"
	mutation.intents == set() with input as examples.untouched_trainjob
	mutation.warnings == warned(reason) with input as examples.untouched_trainjob
}

on_runtime(scheduler_name) := json.patch(
	examples.untouched_trainjob,
	[
		{"op": "add", "path": "/workload/gang/scheduler", "value": "volcano"},
		{"op": "replace", "path": "/podSets/0/schedulerName", "value": scheduler_name},
	],
)

test_a_train_job_on_such_a_runtime_names_its_queue if {
	mutation.intents == {gang("TrainJob", "queue", "research")} with input as on_runtime("volcano")
	mutation.warnings == set() with input as on_runtime("volcano")
}

test_a_train_job_cannot_name_the_scheduler_itself if {
	reason := "the webhook does not route this object, because a TrainJob cannot set schedulerName; set volcano in every template of its runtime"
	mutation.intents == set() with input as on_runtime("")
	mutation.warnings == warned(reason) with input as on_runtime("")
}

test_a_kind_without_gang_settings_is_not_half_routed_but_warned_about if {
	mutation.intents == set() with input as examples.untouched_jobset
	mutation.warnings == warned("the webhook does not route this object, because Volcano cannot make a gang of a JobSet; use a kind that Volcano supports") with input as examples.untouched_jobset
	mutation.skips == set() with input as examples.untouched_jobset
}

test_a_job_with_another_scheduler_on_any_template_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_on_another_scheduler
	mutation.skips == skipped("one of its templates names another scheduler") with input as examples.untouched_pytorchjob_on_another_scheduler
}

test_the_default_scheduler_is_a_choice_only_where_kubernetes_does_not_write_it if {
	chosen := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "default-scheduler"}])
	mutation.intents == set() with input as chosen
	examples.before_job.podSets[0].schedulerName == "default-scheduler"
}

test_a_job_that_kueue_places_by_topology_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_placed_by_kueue
	mutation.skips == skipped("Kueue places its pods by topology") with input as examples.untouched_pytorchjob_placed_by_kueue
}

test_pods_that_wait_for_the_others_are_not_counted if {
	some intent in mutation.intents with input as with_route(
		json.patch(
			examples.before_pytorchjob,
			[{"op": "add", "path": "/workload/gang/first", "value": 3}],
		),
		{},
	)
	intent.value == {"setting": "minimum", "value": 3}
}

test_a_single_pod_is_no_gang if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_of_one_pod
	mutation.skips == skipped("the workload has only one pod, which needs no gang") with input as examples.untouched_pytorchjob_of_one_pod
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_owned_pytorchjob
	mutation.skips == skipped("a controller made this object, and the webhook routes the owner") with input as examples.untouched_owned_pytorchjob
}

test_a_kind_that_is_not_routed_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped("usher.yaml does not route the workload to Volcano") with input as examples.untouched_deployment
}

test_what_is_routed_to_another_scheduler_is_left_alone if {
	on_kai := with_route(examples.before_pytorchjob, {"scheduler": "kai"})
	mutation.intents == set() with input as on_kai
	mutation.warnings == set() with input as on_kai
}

test_nobody_is_warned_who_is_not_routed_here if {
	elsewhere := with_route(examples.untouched_jobset, {"scheduler": "kai"})
	mutation.warnings == set() with input as elsewhere
	alone := json.patch(examples.untouched_jobset, [{"op": "replace", "path": "/workload/pods/maximum", "value": 1}])
	mutation.warnings == set() with input as alone
	owned := json.patch(elsewhere, [{"op": "replace", "path": "/workload/owned", "value": true}])
	count(mutation.skips) == 1 with input as owned
}
