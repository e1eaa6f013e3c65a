package usher.checks.fabric.device_requests_equal_limits_test

import data.examples.checks.fabric.device_requests_equal_limits as examples
import data.usher.checks.fabric.device_requests_equal_limits as check

test_different_amounts_are_found_in_all_containers if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec"
	check.deny == {
		{
			"path": $"{worker}/containers/0/resources/limits/rdma~1ib",
			"message": "container pytorch of Worker requests 1 of rdma/ib, but limits it to 2",
			"remedy": "set both to the same amount",
		},
		{
			"path": $"{worker}/containers/1/resources/limits/hugepages-2Mi",
			"message": "container fabric-agent of Worker requests 1Gi of hugepages-2Mi, but limits it to 2Gi",
			"remedy": "set both to the same amount",
		},
	} with input as examples.bad_pytorchjob
}

test_a_request_without_a_limit_is_found_too if {
	check.deny == {{
		"path": "/spec/workerGroupSpecs/0/template/spec/containers/0/resources/requests/vpc.amazonaws.com~1efa",
		"message": "container ray-worker of gpu requests 4 of vpc.amazonaws.com/efa, but sets no limit",
		"remedy": "set the limit of vpc.amazonaws.com/efa to 4 too",
	}} with input as examples.bad_raycluster
}

test_it_is_found_where_the_kind_keeps_its_resources if {
	check.deny == {{
		"path": "/spec/trainer/resourcesPerNode/limits/vpc.amazonaws.com~1efa",
		"message": "container node of node requests 16 of vpc.amazonaws.com/efa, but limits it to 32",
		"remedy": "set both to the same amount",
	}} with input as examples.bad_trainjob
}

test_equal_amounts_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_cpu_and_memory_may_be_overcommitted if {
	check.deny == set() with input as examples.good_jobset
}
