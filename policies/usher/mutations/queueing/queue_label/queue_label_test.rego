package usher.mutations.queueing.queue_label_test

import data.examples.mutations.queueing.queue_label as examples
import data.usher.mutations.queueing.queue_label as mutation

labelled := {{
	"at": "",
	"field": "kueueLabel",
	"value": {"key": "kueue.x-k8s.io/queue-name", "value": "research"},
	"reason": "usher.yaml puts this workload of namespace ml-research into queue research",
	"needs": [{"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": "research", "namespace": "ml-research"}],
}}

test_a_job_without_a_queue_gets_the_one_of_its_namespace if {
	mutation.intents == labelled with input as examples.before_job
}

test_a_cron_job_gets_it_too if {
	mutation.intents == labelled with input as examples.before_cronjob
}

test_a_label_that_kueue_does_not_read_there_is_no_queue if {
	mislabelled := json.patch(examples.before_cronjob, [{
		"op": "add",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "urgent",
	}])
	mutation.intents == labelled with input as mislabelled
}

test_an_empty_queue_name_is_no_queue if {
	emptied := json.patch(examples.untouched_job_in_another_queue, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	mutation.intents == labelled with input as emptied
}

test_a_workload_in_another_queue_stays_there if {
	mutation.intents == set() with input as examples.untouched_job_in_another_queue
	mutation.intents == set() with input as examples.untouched_cronjob_in_another_queue
}

test_a_namespace_without_a_queue_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_elsewhere
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_owned_job
}

test_a_kind_that_kueue_does_not_know_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_volcano_job
}

test_the_queue_depends_on_the_size if {
	mutation.intents[_].value.value == "large-runs" with input as examples.before_large_jobset
}

test_a_kind_that_kueues_configuration_leaves_out_is_not_labelled_but_warned_about if {
	reason := "Kueue's configuration does not enable kubeflow.org/pytorchjob, so the webhook cannot put the workload into queue research; have it enabled in Kueue's configuration, or use an enabled kind"
	left_out := examples.untouched_pytorchjob_that_kueue_leaves_out
	mutation.intents == set() with input as left_out
	mutation.warnings == {{"at": "", "reason": reason}} with input as left_out
	undeclared := json.remove(left_out, ["/site/parameters"])
	count(mutation.intents) == 1 with input as undeclared
	mutation.warnings == set() with input as undeclared
}

test_where_nothing_would_be_labelled_nobody_is_warned_that_the_kind_is_left_out if {
	frameworks := {"site": {"parameters": {"queueing/integration_not_enabled": {"frameworks": ["pod"]}}}}
	mutation.warnings == set() with input as object.union(examples.untouched_owned_job, frameworks)
	mutation.warnings == set() with input as object.union(examples.untouched_job_in_another_queue, frameworks)
}

test_why_a_workload_is_left_alone_is_said if {
	mutation.skips == {{"at": "", "reason": "usher.yaml names no queue for this workload"}} with input as examples.untouched_job_elsewhere
	mutation.skips == {{"at": "", "reason": "a controller made this object, and Kueue queues the owner"}} with input as examples.untouched_owned_job
	mutation.skips == {{"at": "", "reason": "Kueue does not queue objects of kind Job"}} with input as examples.untouched_volcano_job
	mutation.skips == {{"at": "", "reason": "the workload is already in queue urgent"}} with input as examples.untouched_job_in_another_queue
	mutation.skips == set() with input as examples.before_job
}

test_a_job_that_kueue_cannot_take_gets_a_warning_and_no_label if {
	claim := {"name": "gpu", "resourceClaimName": "one-for-all"}
	job := json.patch(examples.before_job, [{"op": "add", "path": "/podSets/0/resourceClaims", "value": [claim]}])

	mutation.intents == set() with input as job
	mutation.warnings == {{
		"at": "",
		"reason": "the webhook does not put the workload into queue research, because its pods name a ResourceClaim directly, which Kueue cannot count; name a ResourceClaimTemplate",
	}} with input as job
}

at_template(path) := {object.union(intent, {"at": path, "field": "ownLabel"}) | some intent in labelled}

test_of_a_workflow_only_the_templates_that_need_gpus_get_the_label if {
	mutation.intents == at_template("/spec/templates/2") with input as examples.before_workflow
	mutation.intents == set() with input as examples.after_workflow
	mutation.skips == {{"at": "", "reason": "the workload is already in queue research"}} with input as examples.after_workflow
}

test_of_a_pipeline_run_only_the_tasks_that_need_gpus_get_the_label if {
	mutation.intents == at_template("/spec/pipelineSpec/tasks/1/taskSpec") with input as examples.before_pipelinerun
	mutation.intents == set() with input as examples.after_pipelinerun
}

warned(obstacle) := {{"at": "", "reason": $"the webhook does not put the workload into queue research, because {obstacle}"}}

test_a_template_of_another_object_is_not_labelled_through_the_whole_workflow if {
	elsewhere := json.remove(examples.before_workflow, ["/podSets/1/ownMetadataPath"])
	mutation.intents == set() with input as elsewhere
	mutation.warnings == warned("the template of train stands in another object, and a label of the whole Workflow would also queue pods without accelerators; set the label in the metadata of that template") with input as elsewhere
}

test_a_workflow_in_which_all_templates_need_gpus_is_labelled_as_a_whole if {
	alone := json.patch(examples.before_workflow, [{"op": "remove", "path": "/podSets/0"}])
	mutation.intents == labelled with input as alone
}

test_an_elastic_ray_service_may_scale_itself_in_a_queue if {
	mutation.intents == labelled with input as examples.before_elastic_rayservice
}

test_a_label_of_a_scheduler_that_usher_yaml_does_not_use_gets_around_no_queue if {
	mutation.intents == labelled with input as examples.before_job_with_a_label_of_kai
	mutation.warnings == set() with input as examples.before_job_with_a_label_of_kai
}

test_what_kueue_would_refuse_or_never_admit_stays_outside_with_a_warning[name] if {
	some name in [
		"untouched_job_in_a_queue_of_kai",
		"untouched_job_in_a_queue_of_volcano",
		"untouched_pod_with_a_claim",
		"untouched_pod_with_a_share",
		"untouched_raycluster_with_a_group_named_head",
		"untouched_rayjob_on_a_running_cluster",
		"untouched_rayjob_that_keeps_its_cluster",
		"untouched_rayservice_that_scales_itself",
	]
	mutation.intents == set() with input as examples[name]
	count(mutation.warnings) == 1 with input as examples[name]
}

test_a_job_of_kubeflow_that_names_a_queue_of_volcano_stays_there if {
	policy := {"schedulingPolicy": {"queue": "team-a"}}
	kubeflow := json.patch(examples.before_job, [
		{"op": "add", "path": "/object", "value": {"pytorchJob": {"spec": {"runPolicy": policy}}}},
		{"op": "add", "path": "/site/gangSchedulers", "value": ["volcano"]},
	])
	mutation.intents == set() with input as kubeflow
	mutation.warnings == warned("it names a queue of Volcano; remove it to use Kueue") with input as kubeflow
}

test_a_queue_of_multikueue_takes_the_job_over_at_once if {
	document := json.patch(examples.before_job, [{"op": "add", "path": "/site/queue/multiKueue", "value": true}])
	values := [intent.value | some intent in mutation.intents] with input as document
	values == [{"key": "kueue.x-k8s.io/queue-name", "value": "research", "managedBy": "kueue.x-k8s.io/multikueue"}]
	without := json.remove(document, ["/workload/lifecycle/managedBy"])
	plain := [intent.value | some intent in mutation.intents] with input as without
	plain == [{"key": "kueue.x-k8s.io/queue-name", "value": "research"}]
}
