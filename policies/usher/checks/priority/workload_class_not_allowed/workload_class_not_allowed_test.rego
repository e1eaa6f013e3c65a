package usher.checks.priority.workload_class_not_allowed_test

import data.examples.checks.priority.workload_class_not_allowed as examples
import data.usher.checks.priority.workload_class_not_allowed as check

found(metadata_path) := {{
	"path": $"{metadata_path}/labels/kueue.x-k8s.io~1priority-class",
	"message": `queue class "production-inference" is not allowed in this namespace`,
	"remedy": "use one of the allowed classes: research-training, spot-training",
}}

test_a_class_of_others_is_found_where_kueue_reads_it if {
	check.deny == found("/metadata") with input as examples.bad_jobset
	check.deny == found("/spec/jobTemplate/metadata") with input as examples.bad_cronjob
}

test_jobs_without_accelerators_share_the_queues if {
	check.deny == found("/metadata") with input as examples.bad_job_without_accelerators
}

test_a_class_of_the_namespace_and_none_are_good if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_job_without_class
}

test_without_a_list_every_class_is_good if {
	check.deny == set() with input as examples.good_jobset_elsewhere
}
