package usher.checks.placement.groups_without_gang_test

import data.examples.checks.placement.groups_without_gang as examples
import data.usher.checks.placement.groups_without_gang as check

test_groups_that_do_not_all_fit_are_found_without_a_gang if {
	check.deny == {{
		"path": "",
		"message": "all groups need 6 pods, the nodes hold 4 of them, and nothing starts a group as a gang: leaders can take the nodes that workers of other groups need",
		"remedy": "set the label kueue.x-k8s.io/queue-name, give the operator a gang provider, or run fewer groups",
		"assumption": "usher assumes that no node is added, and that the operator has no gang provider",
	}} with input as examples.bad_leader_worker_set
}

test_groups_that_all_fit_or_wait_in_a_queue_are_good if {
	check.deny == set() with input as examples.good_leader_worker_set
	check.deny == set() with input as examples.good_leader_worker_set_in_a_queue
}
