package usher.checks.sharing.training_on_shares_test

import data.examples.checks.sharing.training_on_shares as examples
import data.usher.checks.sharing.training_on_shares as check

remedy := "ask for whole GPUs, or for a MIG slice that is large enough"

test_time_slices_by_their_own_name_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpu.shared",
		"message": `Worker trains on shares of GPUs ("nvidia.com/gpu.shared")`,
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_shares_of_slices_are_found_by_the_first_of_their_names if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": `Worker trains on shares of GPUs ("nvidia.com/gpu")`,
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_fractions_by_annotation_are_found if {
	check.deny == {{
		"path": "/spec/template/metadata/annotations/gpu-fraction",
		"message": `the pod trains on shares of GPUs ("gpu-fraction")`,
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_slices_and_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_slices
}

test_notebooks_may_have_shares if {
	check.deny == set() with input as examples.good_notebook
}

test_all_of_a_gpu_is_no_share if {
	check.deny == set() with input as examples.good_exclusive
}
