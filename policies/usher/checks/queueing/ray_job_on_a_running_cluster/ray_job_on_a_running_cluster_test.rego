package usher.checks.queueing.ray_job_on_a_running_cluster_test

import data.examples.checks.queueing.ray_job_on_a_running_cluster as examples
import data.usher.checks.queueing.ray_job_on_a_running_cluster as check

found := {{
	"path": "/spec/clusterSelector",
	"message": `the RayJob runs on an existing cluster, so Kueue does not queue it in "research"`,
	"remedy": "label the RayCluster instead, or give the job a cluster of its own",
}}

test_a_job_that_selects_its_cluster_is_found if {
	check.deny == found with input as examples.bad_rayjob
	check.deny == found with input as examples.bad_rayjob_of_the_old_version
	check.deny == found with input as examples.bad_rayjob_with_both
}

test_a_job_with_a_cluster_of_its_own_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_a_job_that_names_no_queue_expects_none if {
	check.deny == set() with input as examples.good_rayjob_in_no_queue
}
