package usher.checks.queueing.ray_job_keeps_its_cluster_test

import data.examples.checks.queueing.ray_job_keeps_its_cluster as examples
import data.usher.checks.queueing.ray_job_keeps_its_cluster as check

found := {{
	"path": "/spec/shutdownAfterJobFinishes",
	"message": "the RayJob would keep its cluster and its quota after it finishes, so Kueue refuses it in a queue",
	"remedy": "set shutdownAfterJobFinishes: true",
}}

test_a_job_that_does_not_say_it_is_found if {
	check.deny == found with input as examples.bad_rayjob
	check.deny == found with input as examples.bad_rayjob_that_says_no
	check.deny == found with input as examples.bad_rayjob_with_an_empty_selector
}

test_a_job_that_gives_its_cluster_back_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_a_job_in_no_queue_may_keep_it if {
	check.deny == set() with input as examples.good_rayjob_in_no_queue
}

test_a_job_on_a_cluster_that_is_there_has_none_to_give_back if {
	check.deny == set() with input as examples.good_rayjob_on_a_running_cluster
}
