package usher.checks.mig.claimed_profile_of_no_board_test

import data.examples.checks.mig.claimed_profile_of_no_board as examples
import data.usher.checks.mig.claimed_profile_of_no_board as check

found(boards, remedy) := {{
	"path": "/spec/resourceClaims/0",
	"message": $"the pod claims a slice of the MIG profile 3g.40gb, but {boards} not have it",
	"remedy": remedy,
}}

patched(field, value) := json.patch(examples.bad_pod, [{"op": "replace", "path": $"/podSets/0/unmetProfiles/0/{field}", "value": value}])

test_a_profile_that_no_board_has_is_found if {
	both := "the boards of the pools (H200-141, NVIDIA-L4) do"
	check.deny == found(both, "select a profile of these boards: 3g.71gb") with input as examples.bad_pod
}

test_the_remedy_is_another_profile_or_another_board if {
	one := "H200-141, the only board of the pools, does"
	check.deny == found(one, "select a profile of these boards: 3g.71gb") with input as patched("boards", ["H200-141"])
	both := "the boards of the pools (H200-141, NVIDIA-L4) do"
	without := patched("instead", [])
	elsewhere := concat(", ", examples.bad_pod.podSets[0].unmetProfiles[0].having)
	check.deny == found(both, $"add nodes with a board that has this profile: {elsewhere}") with input as without
	neither := json.patch(without, [{"op": "replace", "path": "/podSets/0/unmetProfiles/0/having", "value": []}])
	check.deny == found(both, "select a profile of a board of the pools") with input as neither
}

test_a_profile_of_a_board_is_good if {
	check.deny == set() with input as examples.good_pod
}

test_nodes_of_facts_only_warn if {
	of_nodes := json.patch(examples.bad_pod, [{"op": "replace", "path": "/podSets/0/unmetProfiles/0/declared", "value": false}])
	some finding in check.deny with input as of_nodes
	finding.assumption == "usher assumes that no autoscaler adds nodes with other boards"
}
