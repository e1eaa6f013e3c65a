package usher.checks.mig.profile_not_on_selected_board_test

import data.examples.checks.mig.profile_not_on_selected_board as examples
import data.usher.checks.mig.profile_not_on_selected_board as check

test_a_profile_that_stayed_when_the_gpu_changed_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.5gb",
		"message": "container embeddings asks for the MIG profile 1g.5gb, but the selected GPU H100-80 does not have it",
		"remedy": "ask for a profile of H100-80, or select nodes with a GPU that has this profile: A100-40",
	}} with input as examples.bad_deployment
}

test_shares_of_slices_are_found_on_shared_nodes if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb.shared",
		"message": "container notebook asks for the MIG profile 1g.10gb, but the selected GPU A30-24 does not have it",
		"remedy": "ask for a profile of A30-24, or select nodes with a GPU that has this profile: A100-40, A100-80, H100-80",
	}} with input as examples.bad_pod
}

test_it_is_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "container pytorch of Master asks for the MIG profile 3g.40gb, but the selected GPU H200-141 does not have it",
		"remedy": "ask for a profile of H200-141, or select nodes with a GPU that has this profile: A100-80, H100-80",
	}} with input as examples.bad_pytorchjob
}

test_a_profile_of_the_selected_gpu_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_gpu_that_usher_does_not_know_may_have_any_profile if {
	check.deny == set() with input as examples.good_unknown_gpu
}

test_a_profile_of_no_board_is_for_another_check if {
	check.deny == set() with input as examples.good_unknown_profile
}
