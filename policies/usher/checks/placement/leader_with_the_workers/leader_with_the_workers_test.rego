package usher.checks.placement.leader_with_the_workers_test

import data.examples.checks.placement.leader_with_the_workers as examples
import data.usher.checks.placement.leader_with_the_workers as check

test_a_leader_on_other_machines_in_the_first_subgroup_is_found if {
	check.deny == {{
		"path": "/spec/leaderWorkerTemplate/subGroupPolicy",
		"message": `the leader is in the first subgroup, whose pods share one value of "cloud.google.com/gke-nodepool", but it selects other nodes than the workers`,
		"remedy": "set subGroupPolicyType to LeaderExcluded",
		"assumption": "usher assumes that no value of the label has nodes for both",
	}} with input as examples.bad_leader
}

test_a_leader_outside_or_on_the_same_machines_is_good if {
	check.deny == set() with input as examples.good_leader_excluded
	check.deny == set() with input as examples.good_leader_on_the_same_machines
}
