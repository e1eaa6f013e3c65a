package usher.checks.gang.volcano_without_gang_test

import data.examples.checks.gang.volcano_without_gang as examples
import data.usher.checks.gang.volcano_without_gang as check

alone(path, name, pods, remedy) := {{
	"path": $"{path}/schedulerName",
	"message": $"{name} has schedulerName volcano but no PodGroup, so Volcano places {pods} pods one by one",
	"remedy": remedy,
}}

unknown(path, reason) := {{"path": $"{path}/schedulerName", "reason": reason}}

job_remedy := "set the annotation scheduling.volcano.sh/group-min-member of the Job to the number of its pods"

jobset_remedy := "name a PodGroup in the annotation scheduling.k8s.io/group-name of every template"

test_a_routed_job_is_made_a_gang_by_its_operator if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
}

test_a_volcano_job_is_always_a_gang if {
	check.deny == set() with input as examples.good_volcano_job
}

test_the_number_of_members_on_the_object_makes_a_gang if {
	check.deny == set() with input as examples.good_job
}

test_one_group_on_every_template_makes_a_gang if {
	check.deny == set() with input as examples.good_jobset
}

test_replicas_that_serve_need_no_gang if {
	check.deny == set() with input as examples.good_deployment_of_servers
	check.deny == set() with input as examples.good_workflow
	every role in ["inference", "interactive", "service"] {
		serving := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/workload/role", "value": role}])
		check.deny == set() with input as serving
	}
}

test_a_single_pod_needs_no_gang_though_a_rollout_makes_a_second if {
	check.deny == set() with input as examples.good_pod
	training := json.patch(examples.good_deployment_of_one_pod, [
		{"op": "replace", "path": "/workload/role", "value": "training"},
	])
	check.deny == set() with input as training
}

test_the_pods_of_a_daemon_set_are_no_gang if {
	check.deny == set() with input as examples.good_daemonset
}

test_a_workload_without_accelerators_is_left_alone if {
	without := json.patch(examples.bad_job, [
		{"op": "replace", "path": "/workload/asksAccelerators", "value": false},
	])
	check.deny == set() with input as without
}

test_another_scheduler_is_left_alone if {
	elsewhere := json.patch(examples.bad_job, [
		{"op": "replace", "path": "/podSets/0/schedulerName", "value": "default-scheduler"},
	])
	check.deny == set() with input as elsewhere
}

test_the_scheduler_alone_makes_no_gang if {
	check.deny == alone("/spec/template/spec", "the pod", "up to 4", job_remedy) with input as examples.bad_job
	check.deny == alone(
		"/spec/template/spec",
		"the pod",
		"up to 5",
		"set the annotation scheduling.volcano.sh/group-min-member of the Deployment to the number of its pods",
	) with input as examples.bad_deployment
}

test_a_described_kind_that_names_no_schedulers_of_its_gangs_is_unknown if {
	described := object.union(
		examples.bad_jobset,
		{"workload": {"group": "acme.io", "kind": "DistillRun", "gang": {"scheduler": "as configured"}}},
	)
	check.deny == set() with input as described
	check.unknown == unknown(
		"/spec/replicatedJobs/0/template/spec/template/spec",
		"usher does not know for which schedulers the operator of DistillRuns makes gangs",
	) with input as described
}

test_an_invalid_number_of_members_does_not_count if {
	worded := json.patch(examples.good_job, [{
		"op": "replace",
		"path": "/workload/annotations/scheduling.volcano.sh~1group-min-member",
		"value": "2.5",
	}])
	check.deny == alone("/spec/template/spec", "the pod", "up to 4", job_remedy) with input as worded
}

test_the_number_of_members_is_not_read_on_other_kinds if {
	check.deny == alone(
		"/spec/replicatedJobs/0/template/spec/template/spec",
		"workers",
		"up to 8",
		jobset_remedy,
	) with input as examples.bad_jobset
}

test_pods_without_bound_are_several if {
	unbounded := json.patch(examples.bad_jobset, [{"op": "remove", "path": "/workload/pods/maximum"}])
	check.deny == alone(
		"/spec/replicatedJobs/0/template/spec/template/spec",
		"workers",
		"all",
		jobset_remedy,
	) with input as unbounded
}

test_a_template_without_the_group_of_the_others_is_found if {
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/metadata/annotations",
		"message": "driver lacks the annotation scheduling.k8s.io/group-name that other templates have, so its pods do not belong to the gang",
		"remedy": "name the same PodGroup on every template",
	}} with input as examples.bad_jobset_of_half_a_gang
}

test_a_routed_job_with_two_schedulers_is_split if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/schedulerName",
		"message": "Master has default-scheduler but Worker has volcano-gpu, so the gang is split between two schedulers",
		"remedy": "set schedulerName to volcano-gpu on every template",
	}} with input as examples.bad_pytorchjob
}

test_a_template_without_scheduler_in_a_routed_job_rests_on_an_assumption if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Launcher/template/spec/schedulerName",
		"message": "Launcher has no schedulerName but Worker has volcano-gpu, so the gang is split between two schedulers",
		"remedy": "set schedulerName to volcano-gpu on every template",
		"assumption": "usher assumes that the operator leaves templates without schedulerName to the default scheduler",
	}} with input as examples.bad_mpijob
}

test_where_an_operator_would_make_the_gang_it_is_unknown_unless_routed if {
	check.deny == set() with input as examples.unknown_mpijob
	check.unknown == unknown(
		"/spec/mpiReplicaSpecs/Launcher/template/spec",
		"usher does not know whether the operator of MPIJobs makes gangs; the routing of usher.yaml can say it",
	) with input as examples.unknown_mpijob
	check.deny == set() with input as examples.unknown_raycluster
	check.unknown == unknown(
		"/spec/workerGroupSpecs/0/template/spec",
		"usher does not know whether KubeRay makes gangs; this depends on its setting batchScheduler",
	) with input as examples.unknown_raycluster
}

test_what_a_cron_job_makes_is_judged_on_its_jobs if {
	check.deny == set() with input as examples.unknown_cronjob
	check.unknown == unknown(
		"/spec/jobTemplate/spec/template/spec",
		"usher does not know the annotations of the Jobs that this CronJob makes; it judges each Job when it is made",
	) with input as examples.unknown_cronjob
}

test_the_object_may_tell_its_operator_itself if {
	check.deny == set() with input as examples.good_sparkapplication
	check.unknown == set() with input as examples.good_sparkapplication
}

test_so_may_the_runtime_of_a_train_job if {
	by_runtime := object.union(examples.bad_jobset, {"workload": {"gang": {"scheduler": "volcano"}}})
	check.deny == set() with input as by_runtime
}

test_of_a_leader_worker_set_the_routing_says_it if {
	template := "/spec/leaderWorkerTemplate/workerTemplate/spec"
	reason := "usher does not know whether the operator of LeaderWorkerSets makes gangs; the routing of usher.yaml can say it"
	check.deny == set() with input as examples.unknown_leader_worker_set
	check.unknown == unknown(template, reason) with input as examples.unknown_leader_worker_set
	check.unknown == set() with input as examples.good_leader_worker_set
	check.deny == set() with input as examples.good_leader_worker_set
}
