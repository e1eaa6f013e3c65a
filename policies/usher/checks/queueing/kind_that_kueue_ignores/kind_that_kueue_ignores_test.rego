package usher.checks.queueing.kind_that_kueue_ignores_test

import data.examples.checks.queueing.kind_that_kueue_ignores as examples
import data.usher.checks.queueing.kind_that_kueue_ignores as check

found(kind, remedy) := {{
	"path": "/metadata/labels/kueue.x-k8s.io~1queue-name",
	"message": $`Kueue does not read kueue.x-k8s.io/queue-name "research" on {kind}s, so it does not queue this one`,
	"remedy": remedy,
}}

of_pods := "use a kind that Kueue queues, or label its pod templates to queue the pods one by one"

test_a_label_of_a_kind_without_integration_is_found if {
	check.deny == found("DaemonSet", of_pods) with input as examples.bad_daemonset
	check.deny == found("RayCronJob", of_pods) with input as examples.bad_raycronjob
}

test_a_gang_of_volcano_has_queues_of_its_own if {
	remedy := "use a kind that Kueue queues, or use only Volcano for queueing"
	check.deny == found("Job", remedy) with input as examples.bad_volcano_job
}

test_the_place_is_named_where_kueue_reads_the_label_of_the_kind if {
	check.deny == found("CronJob", "move it to spec.jobTemplate.metadata.labels") with input as examples.bad_cronjob
	check.deny == found("Workflow", "move it to spec.podMetadata.labels") with input as examples.bad_workflow
}

test_a_label_at_that_place_is_good if {
	check.deny == set() with input as examples.good_cronjob
}

test_a_kind_that_kueue_reads_is_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_taskrun
}

test_pods_that_are_queued_one_by_one_are_good if {
	check.deny == set() with input as examples.good_replicaset
}

test_an_empty_label_on_the_pods_queues_nothing if {
	emptied := json.patch(examples.good_replicaset, [{
		"op": "replace",
		"path": "/podSets/0/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	check.deny == found("ReplicaSet", of_pods) with input as emptied
}

test_an_empty_label_means_nothing if {
	emptied := json.patch(examples.bad_daemonset, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	check.deny == set() with input as emptied
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as examples.good_replicaset_of_a_deployment
}

test_what_only_describes_workloads_is_left_alone if {
	check.deny == set() with input as examples.good_task
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"isTemplate": true}})
}

test_external_frameworks_of_the_cluster_count_unless_others_are_declared if {
	known := {"cluster": {"kueue": {"configurationKnown": true, "externalFrameworks": ["Job.v1alpha1.batch.volcano.sh"]}}}
	check.deny == set() with input as object.union(examples.bad_volcano_job, known)
	count(check.deny) == 1 with input as object.union(examples.bad_daemonset, known)
	declared := {"site": {"parameters": {"queueing/kind_that_kueue_ignores": {"externalFrameworks": ["Pod.v1.example.com"]}}}}
	count(check.deny) == 1 with input as object.union(object.union(examples.bad_volcano_job, known), declared)
}

test_a_kind_that_a_controller_brings_to_kueue_is_good if {
	declared := {"site": {"parameters": {"queueing/kind_that_kueue_ignores": {"externalFrameworks": [
		"Pod.v1.example.com",
		"Job.v1alpha1.batch.volcano.sh",
	]}}}}
	check.deny == set() with input as object.union(examples.bad_volcano_job, declared)
	count(check.deny) == 1 with input as object.union(examples.bad_daemonset, declared)
	of_another_group := object.union(examples.bad_volcano_job, {"workload": {"group": "example.com"}})
	count(check.deny) == 1 with input as object.union(of_another_group, declared)
}
