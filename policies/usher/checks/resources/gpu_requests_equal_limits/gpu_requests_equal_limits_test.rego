package usher.checks.resources.gpu_requests_equal_limits_test

import data.examples.checks.resources.gpu_requests_equal_limits as examples
import data.usher.checks.resources.gpu_requests_equal_limits as check

test_equal_numbers_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_other_limits_and_a_missing_limit_are_found_in_all_containers if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec"
	check.deny == {
		{
			"path": $"{worker}/containers/0/resources/limits/nvidia.com~1gpu",
			"message": "container pytorch of Worker requests 8 of nvidia.com/gpu, but limits it to 4",
			"remedy": "set both to the same amount",
		},
		{
			"path": $"{worker}/initContainers/0/resources/requests/nvidia.com~1mig-1g.10gb",
			"message": "init container download of Worker requests 1 of nvidia.com/mig-1g.10gb, but sets no limit",
			"remedy": "set the limit of nvidia.com/mig-1g.10gb to 1 too",
		},
	} with input as examples.bad_pytorchjob
}

test_a_request_without_limit_is_found_in_a_worker_group if {
	check.deny == {{
		"path": "/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/containers/0/resources/requests/nvidia.com~1gpu",
		"message": "container ray-worker of gpu-group requests 1 of nvidia.com/gpu, but sets no limit",
		"remedy": "set the limit of nvidia.com/gpu to 1 too",
	}} with input as examples.bad_rayjob
}

test_templates_of_templates_are_judged_too if {
	check.deny == {{
		"path": "/spec/jobTemplate/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu",
		"message": "container embed requests 2 of nvidia.com/gpu, but sets no limit",
		"remedy": "set the limit of nvidia.com/gpu to 2 too",
	}} with input as examples.bad_cronjob
}

test_a_limit_alone_is_good if {
	check.deny == set() with input as examples.good_statefulset
}
