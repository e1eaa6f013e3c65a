package usher.checks.mig.training_across_slices_test

import data.examples.checks.mig.training_across_slices as examples
import data.usher.checks.mig.training_across_slices as check

remedy := "train on whole GPUs, or on one slice that is large enough"

test_several_slices_of_one_profile_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "container pytorch of Master trains on 2 MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_slices_of_several_profiles_count_together if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "container worker of Worker trains on 2 MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_a_workload_that_says_it_trains_is_held_to_the_same if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",
		"message": "container train trains on 4 MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_they_are_found_beside_a_container_that_does_better if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/1/resources/limits/nvidia.com~1mig-4g.40gb",
		"message": "container judge of Master trains on 2 MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": remedy,
	}} with input as examples.bad_second_container
}

test_slices_under_the_name_of_gpus_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container pytorch of Master trains on 2 MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": remedy,
	}} with input as examples.bad_slices_as_gpus
}

test_one_slice_for_each_container_is_good if {
	check.deny == set() with input as examples.good_two_containers
}

test_several_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_whole_gpus
}

test_experiments_that_are_no_training_are_good if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"role": "batch"}})
}

test_shares_of_slices_are_for_another_check if {
	check.deny == set() with input as examples.good_shares
}
