package usher.checks.queueing.queue_label_missing_test

import data.examples.checks.queueing.queue_label_missing as examples
import data.usher.checks.queueing.queue_label_missing as check

found(path) := {{
	"path": path,
	"message": "the workload has no label kueue.x-k8s.io/queue-name, so Kueue does not put it into queue research, where usher.yaml wants it",
	"remedy": "set the label kueue.x-k8s.io/queue-name: research",
}}

test_any_queue_is_good_where_kueue_reads_its_name if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_cronjob
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as examples.good_job_owned_by_a_jobset
}

test_a_kind_that_kueue_does_not_know_is_left_alone if {
	check.deny == set() with input as examples.good_volcano_job
}

test_a_workload_that_asks_for_no_accelerator_is_left_alone if {
	check.deny == set() with input as examples.good_deployment
}

test_what_is_in_a_queue_or_was_made_is_not_told_that_its_kind_is_left_out if {
	frameworks := {"site": {"parameters": {"queueing/integration_not_enabled": {"frameworks": ["pod"]}}}}
	check.deny == set() with input as object.union(examples.good_jobset, frameworks)
	check.deny == set() with input as object.union(examples.good_job_owned_by_a_jobset, frameworks)
}

test_a_namespace_without_a_queue_is_left_alone if {
	elsewhere := json.patch(examples.bad_pod, [{"op": "remove", "path": "/site/queue"}])
	check.deny == set() with input as elsewhere
}

test_an_empty_queue_name_is_none if {
	check.deny == found("/metadata/labels") with input as examples.bad_rayjob
}

test_a_label_on_a_cron_job_itself_is_none if {
	check.deny == found("/spec/jobTemplate/metadata/labels") with input as examples.bad_cronjob
}

test_an_annotation_of_that_name_is_no_label if {
	check.deny == found("/metadata/labels") with input as examples.bad_pytorchjob
	check.deny == found("/metadata/labels") with input as examples.bad_pod
}

test_a_queue_of_usher_yaml_that_does_not_exist_is_named_and_no_label_is_demanded if {
	missing := {"cluster": {"kueue": {"configurationKnown": true, "declaredQueueMissing": true}}}
	check.deny == {{
		"path": "/metadata/labels",
		"message": "LocalQueue research, into which usher.yaml puts this workload, does not exist in namespace ml-research",
		"remedy": "ask the administrators of the cluster to create it, or to correct queues in usher.yaml",
	}} with input as object.union(examples.bad_pod, missing)
	check.deny == set() with input as object.union(examples.good_jobset, missing)
}

test_a_kind_that_kueues_configuration_leaves_out_is_not_helped_by_the_label if {
	frameworks := {"queueing/integration_not_enabled": {"frameworks": ["batch/job"]}}
	left_out := object.union(examples.bad_pytorchjob, {"site": {"parameters": frameworks}})
	check.deny == {{
		"path": "/metadata/labels",
		"message": "Kueue's configuration does not enable kubeflow.org/pytorchjob, so Kueue does not put the workload into queue research, where usher.yaml wants it",
		"remedy": "ask the administrators of the cluster to enable kubeflow.org/pytorchjob in Kueue, or use a kind that Kueue queues",
	}} with input as left_out
	check.deny == found("/spec/jobTemplate/metadata/labels") with input as object.union(examples.bad_cronjob, {"site": {"parameters": frameworks}})
}

test_the_remedy_names_what_keeps_kueue_from_taking_the_workload if {
	claim := {"name": "gpu", "resourceClaimName": "one-for-all"}
	pod := json.patch(examples.bad_pod, [{"op": "add", "path": "/podSets/0/resourceClaims", "value": [claim]}])
	some finding in check.deny with input as pod
	finding.remedy == $"Kueue cannot take it into {pod.site.queue.localQueue} yet: its pods name a ResourceClaim directly, which Kueue cannot count; name a ResourceClaimTemplate"
}
