package usher.checks.fabric.shared_memory_above_limit_test

import data.examples.checks.fabric.shared_memory_above_limit as examples
import data.usher.checks.fabric.shared_memory_above_limit as check

found(path, container, size, limit) := {{
	"path": $"{path}/emptyDir/sizeLimit",
	"message": $"{container} has {size} of shared memory, but this memory counts against its limit of {limit}",
	"remedy": "make sizeLimit smaller than the memory limit, so that the processes have enough memory",
}}

test_a_volume_larger_than_the_limit_is_found if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/volumes/1",
		"container pytorch of Worker",
		"128Gi",
		"64Gi",
	) with input as examples.bad_pytorchjob
}

test_one_of_the_same_size_leaves_nothing_for_the_processes if {
	check.deny == found(
		"/spec/template/spec/volumes/0",
		"container vllm",
		"16Gi",
		"16Gi",
	) with input as examples.bad_deployment
}

test_a_limit_of_the_whole_pod_counts_for_a_container_without_one if {
	check.deny == found(
		"/spec/volumes/0",
		"container train",
		"96Gi",
		"64Gi",
	) with input as examples.bad_pod
}

test_a_smaller_volume_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_without_a_size_without_a_limit_and_in_other_places_nothing_is_promised if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_pod
}
