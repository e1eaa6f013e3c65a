package usher.checks.queueing.suspended_without_queue_test

import data.examples.checks.queueing.suspended_without_queue as examples
import data.usher.checks.queueing.suspended_without_queue as check

found(namespace, remedy) := {{
	"path": "/metadata/labels",
	"message": $"Kueue holds back workloads without a queue (manageJobsWithoutQueueName), and namespace {namespace} has no LocalQueue default, so this Job never starts",
	"remedy": remedy,
	"assumption": "usher assumes that this LocalQueue is not made later",
}}

test_a_job_without_a_queue_is_found if {
	check.deny == found("ml-research", "set the label kueue.x-k8s.io/queue-name to a queue of the namespace (research)") with input as examples.bad_job
}

test_a_namespace_without_queues_is_found if {
	check.deny == found("ml-empty", "make a LocalQueue in the namespace, and name it in the label kueue.x-k8s.io/queue-name") with input as examples.bad_job_of_a_namespace_without_queues
}

test_jobs_with_a_queue_are_good if {
	check.deny == set() with input as examples.good_job_of_a_queue
	check.deny == set() with input as examples.good_job_of_the_default_queue
}

test_jobs_that_kueue_does_not_manage_are_good if {
	check.deny == set() with input as examples.good_job_of_a_namespace_that_kueue_leaves_out
	check.deny == set() with input as examples.good_pytorchjob_that_kueue_does_not_read
}

test_a_queue_that_usher_yaml_names_is_the_matter_of_another_check if {
	declared := object.union(examples.bad_job, {"site": {"queue": {"localQueue": "research"}}})
	check.deny == set() with input as declared
}
