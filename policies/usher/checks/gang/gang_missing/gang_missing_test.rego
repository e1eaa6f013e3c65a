package usher.checks.gang.gang_missing_test

import data.examples.checks.gang.gang_missing as examples
import data.examples.checks.gang.volcano_without_gang as examples_of_volcano
import data.usher.checks.gang.gang_missing as check
import data.usher.checks.gang.volcano_without_gang as check_of_volcano

found(number) := {
	"path": "",
	"message": $"the scheduler places the {number} pods with accelerators one by one, because the workload has no queue of Kueue and no PodGroup",
	"remedy": "set the label kueue.x-k8s.io/queue-name, or let a gang scheduler place the pods",
}

changed(path, value) := json.patch(examples.bad_jobset, [{"op": "add", "path": path, "value": value}])

silent(document) if {
	check.deny == set() with input as document
	check.unknown == set() with input as document
}

test_pods_with_accelerators_that_nothing_holds_together_are_found if {
	check.deny == {found(8)} with input as examples.bad_jobset
	check.unknown == set() with input as examples.bad_jobset
	check.deny == {found(4)} with input as examples.bad_statefulset
}

test_where_an_operator_might_make_the_gang_it_rests_on_an_assumption if {
	kubeflow := {"assumption": "usher assumes that the training operator and the MPI operator run without gang scheduling"}
	check.deny == {object.union(found(8), kubeflow)} with input as examples.bad_pytorchjob
	ray := {"assumption": "usher assumes that KubeRay runs without a batch scheduler", "noted": true}
	check.deny == {object.union(found(4), ray)} with input as examples.bad_rayjob
	hyperpod := {"assumption": "usher assumes that the HyperPod operator makes no gangs"}
	check.deny == {object.union(found(8), hyperpod)} with input as changed("/workload/group", "sagemaker.amazonaws.com")
}

test_a_described_site_is_known_to_run_operators_without_gangs if {
	every change in [
		{"op": "add", "path": "/site/gangSchedulers", "value": ["kai"]},
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": true},
	] {
		described := json.patch(examples.bad_rayjob, [change])
		{true | some entry in check.deny; not entry.noted} == {true} with input as described
	}
}

test_a_kind_that_kueue_does_not_know_is_not_sent_to_it if {
	elsewhere := json.patch(examples.bad_jobset, [{"op": "remove", "path": "/workload/queueLabelPath"}])
	check.deny == {object.union(
		found(8),
		{"remedy": "let a gang scheduler place the pods"},
	)} with input as elsewhere
}

test_a_queue_holds_them_together if {
	silent(examples.good_jobset_in_a_queue)
}

test_another_check_reports_a_missing_queue if {
	queue := {"localQueue": "research", "placesPods": true}
	silent(changed("/site/queue", queue))
	elsewhere := json.patch(examples.bad_jobset, [
		{"op": "add", "path": "/site/queue", "value": queue},
		{"op": "remove", "path": "/workload/queueLabelPath"},
	])
	count(check.deny) == 1 with input as elsewhere
}

test_one_pod_with_accelerators_needs_no_gang if {
	silent(examples.good_mpijob_with_one_worker)
	two := json.patch(examples.good_mpijob_with_one_worker, [
		{"op": "replace", "path": "/podSets/1/pods", "value": {"minimum": 2, "maximum": 2}},
	])
	count(check.deny) == 1 with input as two
}

test_elastic_jobs_begin_with_fewer if {
	silent(examples.good_elastic_pytorchjob)
	silent(changed("/podSets/0/pods", {"minimum": 2, "maximum": 8}))
	silent(changed("/podSets/0/pods", {"minimum": 2}))
}

test_an_operator_makes_the_gang_that_the_job_asks_for if {
	silent(examples.good_pytorchjob_with_gang_settings)
	silent(examples.good_routed_pytorchjob)
	count(check.deny) == 1 with input as changed("/site/route", examples.good_routed_pytorchjob.site.route)
	every label in [
		"kai.scheduler/queue",
		"ray.io/gang-scheduling-enabled",
		"ray.io/priority-class-name",
		"volcano.sh/network-topology-mode",
		"volcano.sh/queue-name",
	] {
		labelled := object.union(examples.bad_rayjob, {"workload": {"labels": {label: "research"}}})
		silent(labelled)
	}
	count(check.deny) == 1 with input as changed("/workload/labels", {"volcano.sh/queue-name": "research"})
	other := object.union(examples.bad_rayjob, {"workload": {"labels": {"ray.io/user": "alice"}}})
	count(check.deny) == 1 with input as other
}

test_the_check_of_volcano_never_reports_the_same_workload if {
	every document in array.concat(
		[each | some each in examples_of_volcano],
		[json.patch(document, [{"op": "add", "path": "/podSets/0/schedulerName", "value": "volcano"}]) | some document in examples],
	) {
		trained := object.union(document, {"workload": {"role": "training"}})
		not _both with input as trained
	}
}

_both if {
	count(check.deny | check.unknown) > 0
	count(check_of_volcano.deny | check_of_volcano.unknown) > 0
}

test_other_schedulers_that_place_gangs_are_left_alone if {
	silent(changed("/podSets/0/schedulerName", "volcano"))
	silent(changed("/podSets/0/schedulerName", "kai-scheduler"))
}

test_of_other_schedulers_it_is_unknown if {
	check.deny == set() with input as examples.unknown_jobset_on_another_scheduler
	check.unknown == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/schedulerName",
		"reason": "usher does not know whether the scheduler koord-scheduler places the pods as a gang",
	}} with input as examples.unknown_jobset_on_another_scheduler
}

test_of_pods_without_accelerators_the_scheduler_does_not_matter if {
	check.unknown == set() with input as changed("/podSets/1/schedulerName", "koord-scheduler")
}

test_of_a_train_job_the_runtime_says_it if {
	check.deny == set() with input as examples.unknown_trainjob
	check.unknown == {{
		"path": "/spec/runtimeRef",
		"reason": "usher does not know whether the runtime has a podGroupPolicy; without it only a queue of Kueue makes a gang",
	}} with input as examples.unknown_trainjob
	small := json.patch(examples.unknown_trainjob, [
		{"op": "replace", "path": "/podSets/0/pods/minimum", "value": 1},
	])
	count(check.unknown) == 1 with input as small
	elsewhere := json.patch(examples.unknown_trainjob, [
		{"op": "replace", "path": "/podSets/0/schedulerName", "value": "koord-scheduler"},
	])
	count(check.unknown) == 1 with input as elsewhere
}

test_a_train_job_in_a_queue_is_a_gang_whatever_its_runtime_says if {
	silent(object.union(
		examples.unknown_trainjob,
		{"workload": {"labels": {"kueue.x-k8s.io/queue-name": "research"}}},
	))
}

test_batch_work_whose_pods_wait_for_each_other_needs_a_gang if {
	check.deny == {found(4)} with input as examples.bad_indexed_job
	silent(examples.good_indexed_job_that_divides_work)
	silent(json.patch(examples.bad_indexed_job, [{"op": "replace", "path": "/workload/role", "value": "inference"}]))
	silent(json.patch(examples.bad_jobset, [
		{"op": "replace", "path": "/workload/role", "value": "batch"},
		{"op": "add", "path": "/workload/gang/waits", "value": true},
	]))
}

test_the_object_in_an_app_wrapper_decides if {
	inside := {"assumption": "usher assumes that the operators of the objects inside make no gangs"}
	check.deny == {object.union(found(4), inside)} with input as examples.bad_appwrapper
}

test_pods_that_do_not_wait_for_each_other_need_no_gang if {
	silent(examples.good_job_of_batch_work)
	silent(changed("/workload/role", "batch"))
	silent(changed("/workload/gang/wanted", false))
}

test_a_gang_that_is_formed_already_is_left_alone if {
	silent(changed("/workload/gang/formedBy", "a PodGroup of Volcano"))
}

test_what_a_controller_made_was_judged_at_its_owner if {
	silent(changed("/workload/owned", true))
}

test_a_template_makes_no_pods_by_itself if {
	silent(changed("/workload/isTemplate", true))
}

routed(scheduler) := object.union(
	examples.bad_jobset.site,
	{"route": {"scheduler": scheduler, "schedulerName": $"{scheduler}-gpu", "queue": "research", "setsMinimum": false}},
)

test_jobs_routed_to_a_scheduler_that_makes_their_gang_are_left_alone if {
	silent(changed("/site", routed("kai")))
	mutated := json.patch(changed("/site", routed("kai")), [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "kai-gpu"}])
	silent(mutated)
	count(check.deny) == 1 with input as changed("/site", routed("volcano"))
}

test_a_train_job_whose_runtime_makes_a_gang_is_left_alone if {
	gang := {"wanted": true, "formedBy": "a PodGroup of Volcano that its operator makes", "scheduler": "volcano"}
	silent(json.patch(examples.unknown_trainjob, [{"op": "replace", "path": "/workload/gang", "value": gang}]))
}

test_a_train_job_whose_runtime_makes_no_gang_is_found if {
	known := json.patch(examples.unknown_trainjob, [
		{"op": "replace", "path": "/podSets/0/specPath", "value": "/spec/runtimeRef/name/spec/template"},
		{"op": "replace", "path": "/podSets/0/pods", "value": {"minimum": 4, "maximum": 4}},
	])
	check.deny == {found(4)} with input as known
	check.unknown == set() with input as known
}

test_pods_that_follow_each_other_do_not_wait_for_each_other if {
	silent(examples.good_jobset_that_divides_work)
}

test_a_job_that_fills_one_tpu_slice_is_good if {
	check.deny == set() with input as examples.good_jobset_on_one_tpu_slice
}

test_two_tpu_slices_are_two_groups_of_nodes if {
	two_slices := json.patch(examples.good_jobset_on_one_tpu_slice, [
		{
			"op": "replace",
			"path": "/podSets/0/pods/minimum",
			"value": 32,
		},
		{"op": "replace", "path": "/podSets/0/pods/maximum", "value": 32},
	])
	count(check.deny) == 1 with input as two_slices
}

test_a_topology_that_is_not_one_of_tpus_does_not_count if {
	every text in ["4x4x4x4", "4x", "x", "large", "4x4x5"] {
		other := json.patch(examples.good_jobset_on_one_tpu_slice, [{
			"op": "replace",
			"path": "/podSets/0/nodeSelector/cloud.google.com~1gke-tpu-topology",
			"value": text,
		}])
		count(check.deny) == 1 with input as other
	}
}

test_kai_groups_the_pods_of_a_job_only_by_its_annotation if {
	check.deny == {{
		"path": "",
		"message": "KAI-Scheduler makes a group of 1 pod for each pod of a batch Job, so it places the 4 pods with accelerators one by one",
		"remedy": "set the annotation kai.scheduler/batch-min-member to 4",
	}} with input as examples.bad_job_of_kai
	check.unknown == set() with input as examples.bad_job_of_kai
	grouped := [{"op": "add", "path": "/workload/annotations", "value": {"kai.scheduler/batch-min-member": "4"}}]
	check.deny == set() with input as json.patch(examples.bad_job_of_kai, grouped)
}
