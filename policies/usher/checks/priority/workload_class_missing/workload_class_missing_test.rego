package usher.checks.priority.workload_class_missing_test

import data.examples.checks.priority.workload_class_missing as examples
import data.usher.checks.priority.workload_class_missing as check

found(metadata_path) := {{
	"path": $"{metadata_path}/labels/kueue.x-k8s.io~1priority-class",
	"message": "the workload has no label kueue.x-k8s.io/priority-class, so it has no priority of its own in its queue",
	"remedy": "set the label kueue.x-k8s.io/priority-class",
}}

test_a_queued_workload_without_the_label_is_found if {
	check.deny == found("/metadata") with input as examples.bad_jobset
	check.deny == found("/metadata") with input as examples.bad_pod
}

test_of_a_cron_job_the_label_stands_on_the_template if {
	check.deny == found("/spec/jobTemplate/metadata") with input as examples.bad_cronjob
	check.deny == set() with input as examples.good_cronjob
}

test_any_class_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_what_is_in_no_queue_needs_none if {
	check.deny == set() with input as examples.good_pod_in_no_queue
}

test_other_namespaces_do_not_require_it if {
	check.deny == set() with input as examples.good_pod_elsewhere
}

test_what_a_controller_made_is_queued_with_its_owner if {
	check.deny == set() with input as object.union(examples.bad_jobset, {"workload": {"owned": true}})
}
