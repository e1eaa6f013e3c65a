package usher.checks.mig.unknown_profile_test

import data.examples.checks.mig.unknown_profile as examples
import data.usher.checks.mig.unknown_profile as check

remedy := "ask for a profile that the nodes offer, or name the resource in usher.yaml"

assumption := "usher assumes that it knows all boards of the cluster"

test_a_profile_that_no_board_has_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.8gb",
		"message": "container embeddings asks for the MIG profile 1g.8gb, but no board that usher knows has it",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_deployment
}

test_a_variant_that_no_board_has_is_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb.me",
		"message": "container pytorch of Worker asks for the MIG profile 3g.40gb+me, but no board that usher knows has it",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pytorchjob
}

test_shares_of_an_unknown_profile_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-2g.40gb.shared",
		"message": "container ranker asks for the MIG profile 2g.40gb, but no board that usher knows has it",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_knative_service
}

test_profiles_of_different_boards_are_good if {
	check.deny == set() with input as examples.good_job
}

test_a_new_board_is_known_by_the_resources_of_its_pool if {
	check.deny == set() with input as examples.good_new_board
}

test_a_name_that_is_no_profile_is_for_another_check if {
	check.deny == set() with input as examples.good_name_of_no_profile
}
