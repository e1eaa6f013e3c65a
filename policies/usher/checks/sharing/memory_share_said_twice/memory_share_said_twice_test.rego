package usher.checks.sharing.memory_share_said_twice_test

import data.examples.checks.sharing.memory_share_said_twice as examples
import data.usher.checks.sharing.memory_share_said_twice as check

remedy := "keep one of nvidia.com/gpumem and nvidia.com/gpumem-percentage"

test_both_measures_in_one_container_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpumem-percentage",
		"message": "container embeddings asks for 50 % of the memory of a GPU and for 8000 MiB, but HAMi ignores the percentage",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_they_are_found_in_requests if {
	check.deny == {{
		"path": "/spec/containers/0/resources/requests/nvidia.com~1gpumem-percentage",
		"message": "container notebook asks for 1 % of the memory of a GPU and for 1 MiB, but HAMi ignores the percentage",
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_they_are_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/template/spec/containers/1/resources/limits/nvidia.com~1gpumem-percentage",
		"message": "container judge asks for 30 % of the memory of a GPU and for 4000 MiB, but HAMi ignores the percentage",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_one_measure_for_each_container_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_zero_does_not_count_as_a_share if {
	check.deny == set() with input as examples.good_zero_memory
	check.deny == set() with input as examples.good_zero_percentage
}
