package usher.checks.cost.ray_job_keeps_its_gpus_test

import data.examples.checks.cost.ray_job_keeps_its_gpus as examples
import data.usher.checks.cost.ray_job_keeps_its_gpus as check

test_a_ray_job_that_keeps_its_cluster_is_found if {
	check.deny == {{"path": "/spec/shutdownAfterJobFinishes", "message": "the RayJob keeps its cluster and the accelerators of it after it finishes", "remedy": "set shutdownAfterJobFinishes: true"}} with input as examples.bad_default
	check.deny == {{"path": "/spec/shutdownAfterJobFinishes", "message": "the RayJob keeps its cluster and the accelerators of it after it finishes", "remedy": "set shutdownAfterJobFinishes: true"}} with input as examples.bad_false
	check.deny == {{"path": "/spec/shutdownAfterJobFinishes", "message": "the RayJob keeps its cluster and the accelerators of it after it finishes", "remedy": "set shutdownAfterJobFinishes: true"}} with input as examples.bad_with_a_time_to_live
}

test_a_ray_job_that_frees_its_gpus_is_good if {
	check.deny == set() with input as examples.good_in_queue
	check.deny == set() with input as examples.good_shut_down
	check.deny == set() with input as examples.good_strategy
	check.deny == set() with input as examples.good_without_gpus
}
