package usher.checks.sharing.memory_percentage_above_a_gpu_test

import data.examples.checks.sharing.memory_percentage_above_a_gpu as examples
import data.usher.checks.sharing.memory_percentage_above_a_gpu as check

remedy := "ask for at most 100 % of each GPU, and set nvidia.com/gpu to get more GPUs"

test_the_memory_of_several_gpus_as_one_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpumem-percentage",
		"message": "container vllm asks for 200 % of the memory of a GPU, but a share has at most 100 %",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_just_above_all_of_a_gpu_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/requests/nvidia.com~1gpumem-percentage",
		"message": "container notebook asks for 101 % of the memory of a GPU, but a share has at most 100 %",
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_it_is_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpumem-percentage",
		"message": "container worker of Worker asks for 8000 % of the memory of a GPU, but a share has at most 100 %",
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_all_of_a_gpu_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_mib_are_no_percentage if {
	check.deny == set() with input as examples.good_memory
}
