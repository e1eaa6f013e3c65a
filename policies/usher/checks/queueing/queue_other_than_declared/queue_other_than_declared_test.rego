package usher.checks.queueing.queue_other_than_declared_test

import data.examples.checks.queueing.queue_other_than_declared as examples
import data.usher.checks.queueing.queue_other_than_declared as check

found(path, queue) := {{
	"path": $"{path}/labels/kueue.x-k8s.io~1queue-name",
	"message": $"the workload names queue {queue}, but namespace research-nlp uses queue nlp",
	"remedy": "set the label kueue.x-k8s.io/queue-name: nlp",
}}

test_another_queue_is_found_where_kueue_reads_it if {
	check.deny == found("/metadata", `"vision"`) with input as examples.bad_pytorchjob
	check.deny == found("/spec/jobTemplate/metadata", `"vision"`) with input as examples.bad_cronjob
	check.deny == found("/metadata", `"research-cluster-queue"`) with input as examples.bad_pod
}

test_the_declared_queue_is_good if {
	check.deny == set() with input as examples.good_job
}

test_another_queue_that_is_listed_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_a_namespace_of_which_no_queue_is_declared_is_left_alone if {
	check.deny == set() with input as examples.good_pod_elsewhere
}

test_what_names_no_queue_is_for_another_check if {
	check.deny == set() with input as examples.good_job_without_a_queue
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_pod, {"workload": {"owned": true}})
}
