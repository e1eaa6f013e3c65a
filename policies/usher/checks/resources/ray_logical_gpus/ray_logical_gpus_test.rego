package usher.checks.resources.ray_logical_gpus_test

import data.examples.checks.resources.ray_logical_gpus as examples
import data.usher.checks.resources.ray_logical_gpus as check

remedy := "remove it; KubeRay then reads the number from the limits of the container"

test_more_and_fewer_than_there_are_is_found_in_every_group if {
	check.deny == {
		{
			"path": "/spec/headGroupSpec/rayStartParams/num-gpus",
			"message": "Ray counts 1 GPU in container ray-head of head, but it has 0 GPUs: tasks get GPUs that do not exist",
			"remedy": remedy,
		},
		{
			"path": "/spec/workerGroupSpecs/0/rayStartParams/num-gpus",
			"message": "Ray counts 8 GPUs in container ray-worker of large, but it has 4 GPUs: tasks get GPUs that do not exist",
			"remedy": remedy,
		},
		{
			"path": "/spec/workerGroupSpecs/1/rayStartParams/num-gpus",
			"message": "Ray counts 0 GPUs in container ray-worker of small, but it has 1 GPU: no task can get a GPU",
			"remedy": remedy,
		},
	} with input as examples.bad_raycluster
}

test_resources_of_the_group_count_before_the_start_parameters if {
	check.deny == {{
		"path": "/spec/rayClusterSpec/workerGroupSpecs/0/resources/GPU",
		"message": "Ray counts 2 GPUs in container ray-worker of gpu, but it has 4 GPUs: no task can get the other GPUs",
		"remedy": remedy,
	}} with input as examples.bad_rayjob
	check.deny == {{
		"path": "/spec/rayClusterConfig/headGroupSpec/resources/gpu",
		"message": "Ray counts 0 GPUs in container ray-head of head, but it has 2 GPUs: no task can get a GPU",
		"remedy": remedy,
	}} with input as examples.bad_rayservice
}

test_the_same_number_is_good_and_tpus_are_no_gpus if {
	check.deny == set() with input as examples.good_raycluster
}

test_what_says_no_number_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_what_a_pod_has_by_other_ways_than_resources_is_not_compared if {
	check.deny == set() with input as examples.good_raycluster_of_fractions
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_raycluster_of_a_rayjob
}
