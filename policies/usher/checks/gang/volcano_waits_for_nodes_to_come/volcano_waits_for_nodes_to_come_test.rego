package usher.checks.gang.volcano_waits_for_nodes_to_come_test

import data.examples.checks.gang.volcano_waits_for_nodes_to_come as examples
import data.usher.checks.gang.volcano_waits_for_nodes_to_come as check

test_a_job_that_only_nodes_to_come_could_hold_is_found if {
	check.deny == {{
		"path": "/spec/tasks/0/template",
		"message": "worker fits only pool small, which has no node yet; Volcano makes no pod before nodes have room, so no autoscaler adds one",
		"remedy": "keep a node there, or take enqueue out of the actions of Volcano's scheduler",
		"assumption": "usher assumes that Volcano's scheduler has the action enqueue, its default",
	}} with input as examples.bad_job
}

test_jobs_of_nodes_that_exist_and_pods_that_are_made_at_once_are_good if {
	check.deny == set() with input as examples.good_job_of_nodes_that_exist
	check.deny == set() with input as examples.good_job_of_kubernetes
}
