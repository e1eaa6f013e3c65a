package usher.checks.mig.more_than_a_node_holds_test

import data.examples.checks.mig.more_than_a_node_holds as examples
import data.usher.checks.mig.more_than_a_node_holds as check

remedy := "ask for fewer slices per pod, or for slices that fit on fewer GPUs"

# The namespace edge has nodes with one GPU each.
test_slices_whose_sizes_add_up_to_a_gpu_do_not_fit_there_all_the_same if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",
		"message": "the slices of the pod need 2 GPUs on one node, but no node has more than 1",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_the_slices_of_all_containers_count_together if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb.me",
		"message": "the slices of the pod need 2 GPUs on one node, but no node has more than 1",
		"remedy": remedy,
	}} with input as examples.bad_media_pod
}

test_the_board_of_the_node_selector_decides if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",
		"message": "the slices of one pod of Worker need 2 GPUs on one node, but no node has more than 1",
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
	check.deny == set() with input as examples.good_larger_board
}

test_without_a_parameter_the_gpus_per_node_are_assumed if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-7g.80gb",
		"message": "the slices of the pod need 9 GPUs on one node, but no node has more than 8",
		"remedy": remedy,
		"assumption": "usher assumes that no node has more than 8 GPUs",
	}} with input as examples.bad_job_of_whole_gpus
}

test_a_mix_that_fits_on_one_gpu_is_good if {
	check.deny == set() with input as examples.good_mix
}

test_as_many_as_a_node_has_is_good if {
	check.deny == set() with input as examples.good_job_of_whole_gpus
}

test_one_board_on_which_they_fit_is_enough if {
	boards := [{"name": "A", "gpus": 2, "exact": true}, {"name": "B", "gpus": 1, "exact": true}]
	check.deny == set() with input as on_boards(boards)
	check.unknown == set() with input as on_boards(boards)
}

test_where_no_board_has_the_profiles_another_check_tells if {
	check.deny == set() with input as on_boards([])
	check.unknown == set() with input as on_boards([])
}

test_shares_of_slices_take_no_gpu if {
	check.deny == set() with input as examples.good_shares
}

test_too_many_to_be_searched_is_unknown if {
	check.deny == set() with input as examples.unknown_job
	check.unknown == {{
		"path": "/spec/template/spec/containers/1/resources/limits/nvidia.com~1mig-2g.20gb",
		"reason": "usher cannot compute how many GPUs these slices need, because the pod asks for too many different slices",
	}} with input as examples.unknown_job
}

test_a_board_on_which_they_fit_for_certain_leaves_nothing_unknown if {
	check.unknown == set() with input as on_boards([
		{"name": "A", "gpus": 1, "exact": false},
		{"name": "B", "gpus": 1, "exact": true},
	])
}

test_a_finding_is_not_unknown_as_well if {
	boards := [{"name": "A", "gpus": 2, "exact": false}]
	count(check.deny) == 1 with input as on_boards(boards)
	check.unknown == set() with input as on_boards(boards)
}

test_an_inexact_board_beside_one_that_is_too_small_is_unknown if {
	count(check.unknown) == 1 with input as on_boards([
		{"name": "A", "gpus": 1, "exact": false},
		{"name": "B", "gpus": 2, "exact": true},
	])
}

test_the_path_is_that_of_the_slices if {
	some finding in check.deny with input as examples.bad_deployment_with_another_device
	finding.path == "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb"
}

on_boards(boards) := object.union(examples.bad_deployment, {"podSets": [pod_set]}) if {
	pod_set := object.union(examples.bad_deployment.podSets[0], {"mig": {"boards": boards}})
}
