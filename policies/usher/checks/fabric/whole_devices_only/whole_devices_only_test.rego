package usher.checks.fabric.whole_devices_only_test

import data.examples.checks.fabric.whole_devices_only as examples
import data.usher.checks.fabric.whole_devices_only as check

found(path, container, list, name, amount, number) := {{
	"path": path,
	"message": $"{container} sets {list} of {name} to {amount}, but device plugins give out whole devices only",
	"remedy": $"ask for {number}",
}}

test_a_fraction_is_found_in_limits_alone if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/rdma~1ib",
		"container pytorch of Worker",
		"limits",
		"rdma/ib",
		"500m",
		1,
	) with input as examples.bad_pytorchjob
}

test_of_requests_and_limits_the_request_is_shown if {
	check.deny == found(
		"/spec/tasks/0/template/spec/containers/0/resources/requests/rdma~1roce",
		"container train of worker",
		"requests",
		"rdma/roce",
		"1500m",
		2,
	) with input as examples.bad_volcano_job
}

test_it_is_found_in_other_groups if {
	check.deny == found(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources/limits/vpc.amazonaws.com~1efa",
		"container worker of worker",
		"limits",
		"vpc.amazonaws.com/efa",
		"250m",
		1,
	) with input as examples.bad_leaderworkerset
}

test_whole_numbers_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_huge_pages_and_cpu_are_no_devices if {
	check.deny == set() with input as examples.good_job
}
