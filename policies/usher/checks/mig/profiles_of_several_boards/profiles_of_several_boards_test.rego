package usher.checks.mig.profiles_of_several_boards_test

import data.examples.checks.mig.profiles_of_several_boards as examples
import data.usher.checks.mig.profiles_of_several_boards as check

remedy := "ask for profiles of one board in all containers of the pod"

assumption := "usher assumes that all GPUs of a node have the same board"

test_the_smallest_slices_of_two_boards_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/1/resources/limits/nvidia.com~1mig-1g.12gb",
		"message": "the slices of the pod are 1g.12gb and 1g.5gb, but no single board has all of these profiles",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_deployment
}

test_a_misspelt_size_is_found_by_its_company if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "the slices of one pod of Worker are 3g.40gb and 3g.71gb, but no single board has all of these profiles",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pytorchjob
}

test_init_containers_belong_to_the_pod if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1mig-2g.24gb",
		"message": "the slices of the pod are 2g.24gb and 4g.20gb, but no single board has all of these profiles",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pod
}

test_the_path_is_that_of_the_slices if {
	some finding in check.deny with input as examples.bad_pod_with_another_device
	finding.path == "/spec/containers/0/resources/limits/nvidia.com~1mig-2g.24gb"
}

test_two_profiles_of_one_board_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_profile_of_no_board_is_for_another_check if {
	check.deny == set() with input as examples.good_unknown_profile
}

test_shares_of_slices_are_looked_at_no_closer if {
	check.deny == set() with input as examples.good_shares
}

test_shares_are_not_named_among_the_slices if {
	some finding in check.deny with input as examples.bad_beside_a_share
	finding.message == "the slices of the pod are 2g.24gb and 4g.20gb, but no single board has all of these profiles"
}
