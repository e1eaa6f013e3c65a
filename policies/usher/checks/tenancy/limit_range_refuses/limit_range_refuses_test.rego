package usher.checks.tenancy.limit_range_refuses_test

import data.examples.checks.tenancy.limit_range_refuses as examples
import data.usher.checks.tenancy.limit_range_refuses as check

found(path, says, allows, remedy) := {{
	"path": path,
	"message": $"{says}; LimitRange sizes {allows}, so the API server refuses the pods",
	"remedy": remedy,
}}

test_more_than_the_largest_is_found if {
	check.deny == found(
		"/spec/template/spec/containers/0/resources/limits/memory",
		"container serve has a limit of 128Gi memory",
		"allows at most 64Gi",
		"set a limit of at most 64Gi",
	) with input as examples.bad_memory
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec",
		"the whole pod has a limit of 8 nvidia.com/gpu",
		"allows at most 4",
		"set a limit of at most 4",
	) with input as examples.bad_pytorchjob
}

test_less_than_the_smallest_is_found if {
	check.deny == found(
		"/spec",
		"the whole pod has a request of 500m cpu",
		"requires at least 1",
		"set a request of at least 1",
	) with input as examples.bad_small_pod
}

test_a_limit_too_far_above_the_request_is_found if {
	check.deny == found(
		"/spec/containers/0/resources/limits/cpu",
		"container probe has a limit of 8 cpu for a request of 1",
		"allows a limit of at most 2 times the request",
		"set a request and a limit of at most 2 times the request",
	) with input as examples.bad_ratio
}

test_a_default_limit_below_the_request_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/requests/cpu",
		"message": "container prepare has a request of 6 cpu; LimitRange small gives it a limit of 2, so the API server refuses the pods",
		"remedy": "set a limit of at least 6 too",
	}} with input as examples.bad_default_limit
}

test_a_pod_that_says_nothing_is_found if {
	check.deny == found(
		"/spec/template/spec",
		"the whole pod has no limit of nvidia.com/gpu",
		"allows at most 4",
		"set a limit of at most 4",
	) with input as examples.bad_no_gpu
}

test_what_keeps_within_the_bounds_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_defaults_are_filled_in_first if {
	check.deny == set() with input as examples.good_defaults
}
