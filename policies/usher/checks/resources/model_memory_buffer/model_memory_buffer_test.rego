package usher.checks.resources.model_memory_buffer_test

import data.examples.checks.resources.model_memory_buffer as examples
import data.usher.checks.resources.model_memory_buffer as check

test_too_little_is_found_in_the_container_with_accelerators_that_has_the_most if {
	check.deny == {{
		"path": "/spec/template/spec/containers/1",
		"message": "container server has 32Gi of memory to load a model of 28Gi; with a buffer of 20 % it needs 33.6Gi",
		"remedy": "raise its memory limit to 34Gi or more",
	}} with input as examples.bad_deployment
}

test_the_limit_of_the_pod_as_a_whole_counts_before_what_is_requested if {
	check.deny == {{
		"path": "/spec/containers/0",
		"message": "container evaluate has 150Gi of memory to load a model of 130.4Gi; with a buffer of 20 % it needs 156.5Gi",
		"remedy": "raise its memory limit to 157Gi or more",
	}} with input as examples.bad_pod
}

test_the_limit_of_the_pod_as_a_whole_counts_before_its_request if {
	found := check.deny with input as examples.bad_pod
	check.deny == found with input as json.remove(examples.bad_pod, ["/podSets/0/containers/0/resources/memory"])
}

test_without_a_limit_the_request_counts_and_each_template_has_its_own_size if {
	check.deny == {
		{
			"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0",
			"message": "container leader of leader has 11Gi of memory to load a model of 10Gi; with a buffer of 20 % it needs 12Gi",
			"remedy": "raise its memory limit to 12Gi or more",
		},
		{
			"path": "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0",
			"message": "container worker of worker has 100Gi of memory to load a model of 400Gi; with a buffer of 20 % it needs 480Gi",
			"remedy": "raise its memory limit to 480Gi or more",
		},
	} with input as examples.bad_leaderworkerset
}

test_the_buffer_may_be_another_one if {
	config := {"site": {"parameters": {"resources/model_memory_buffer": {"bufferPercent": 10}}}}
	check.deny == set() with input as object.union(examples.bad_deployment, config)
}

test_exactly_the_buffer_is_good_and_other_containers_may_have_less if {
	check.deny == set() with input as examples.good_deployment
}

test_without_a_size_and_without_memory_there_is_nothing_to_compare if {
	check.deny == set() with input as examples.good_inference_without_a_size
	check.deny == set() with input as examples.good_job_without_memory
}

test_pods_without_accelerators_load_no_model if {
	check.deny == set() with input as examples.good_cpu_job
	check.unknown == set() with input as examples.good_cpu_job
}

test_a_size_that_is_none_is_unknown_where_it_stands if {
	path := "/metadata/annotations/gpu-usher.io~1model-size"
	check.unknown == {{
		"path": path,
		"reason": `"7B parameters" is not a model size; write a quantity like 28Gi`,
	}} with input as examples.unknown_pod
	check.unknown == {{
		"path": path,
		"reason": `"large" is not a model size; write a quantity like 28Gi`,
	}} with input as examples.unknown_deployment
	check.deny == set() with input as examples.unknown_deployment
	check.unknown == {{
		"path": $"/spec/template{path}",
		"reason": `"some" is not a model size; write a quantity like 28Gi`,
	}} with input as json.patch(examples.good_deployment, [
		{"op": "replace", "path": "/podSets/0/annotations/gpu-usher.io~1model-size", "value": "some"},
		{"op": "remove", "path": "/podSets/0/modelSize"},
	])
}

test_a_size_that_is_one_is_known if {
	check.unknown == set() with input as examples.good_deployment
	check.unknown == set() with input as examples.bad_leaderworkerset
	check.unknown == set() with input as examples.good_inference_without_a_size
}
