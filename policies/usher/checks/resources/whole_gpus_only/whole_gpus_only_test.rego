package usher.checks.resources.whole_gpus_only_test

import data.examples.checks.resources.whole_gpus_only as examples
import data.usher.checks.resources.whole_gpus_only as check

test_whole_numbers_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_mpijob
}

test_equal_fractions_of_requests_and_limits_are_found_once_in_each_container if {
	check.deny == {
		{
			"path": "/spec/template/spec/initContainers/0/resources/limits/nvidia.com~1gpu.shared",
			"message": "init container warm-up sets limits of nvidia.com/gpu.shared to 1500m, but only whole units exist; shares need MIG, time-slicing or DRA",
			"remedy": "ask for 2, or for a resource that is a share of a GPU",
		},
		{
			"path": "/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu",
			"message": "container server sets requests of nvidia.com/gpu to 250m, but only whole units exist; shares need MIG, time-slicing or DRA",
			"remedy": "ask for 1, or for a resource that is a share of a GPU",
		},
	} with input as examples.bad_deployment
}

test_a_fraction_of_a_mig_profile_is_found_where_only_the_limit_has_it if {
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "container train of workers sets limits of nvidia.com/mig-3g.40gb to 1500m, but only whole units exist; shares need MIG, time-slicing or DRA",
		"remedy": "ask for 2, or for a resource that is a share of a GPU",
	}} with input as examples.bad_jobset
}

test_a_fraction_is_found_in_a_worker_group if {
	check.deny == {{
		"path": "/spec/workerGroupSpecs/0/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container ray-worker of gpu-group sets limits of nvidia.com/gpu to 500m, but only whole units exist; shares need MIG, time-slicing or DRA",
		"remedy": "ask for 1, or for a resource that is a share of a GPU",
	}} with input as examples.bad_raycluster
}
