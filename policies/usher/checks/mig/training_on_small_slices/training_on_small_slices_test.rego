package usher.checks.mig.training_on_small_slices_test

import data.examples.checks.mig.training_on_small_slices as examples
import data.usher.checks.mig.training_on_small_slices as check

test_the_smallest_slices_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",
		"message": "container pytorch of Master trains on the MIG slice 1g.10gb, but training needs 3g or larger",
		"remedy": "ask for a profile of 3g or larger, or for a whole GPU",
	}} with input as examples.bad_pytorchjob
}

test_slices_just_below_the_size_are_found if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-2g.20gb",
		"message": "container worker of Worker trains on the MIG slice 2g.20gb, but training needs 3g or larger",
		"remedy": "ask for a profile of 3g or larger, or for a whole GPU",
	}} with input as examples.bad_mpijob
}

test_slices_under_the_name_of_gpus_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container pytorch of Master trains on the MIG slice 1g.10gb, but training needs 3g or larger",
		"remedy": "ask for a profile of 3g or larger, or for a whole GPU",
	}} with input as examples.bad_slices_as_gpus
}

test_a_namespace_may_ask_for_more if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-4g.40gb",
		"message": "container train trains on the MIG slice 4g.40gb, but training needs 7g or larger",
		"remedy": "ask for a profile of 7g or larger, or for a whole GPU",
	}} with input as examples.bad_job
}

test_slices_of_the_size_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_all_of_a_board_is_no_small_slice if {
	check.deny == set() with input as examples.good_whole_board
}

test_notebooks_and_serving_may_have_small_slices if {
	check.deny == set() with input as examples.good_notebook
}

test_shares_of_slices_are_for_another_check if {
	check.deny == set() with input as examples.good_shares
}
