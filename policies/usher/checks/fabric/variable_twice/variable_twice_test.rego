package usher.checks.fabric.variable_twice_test

import data.examples.checks.fabric.variable_twice as examples
import data.usher.checks.fabric.variable_twice as check

found(path, container, name, value) := {
	"path": path,
	"message": $"{container}: {name} is set more than once, and the last value {value} wins",
	"remedy": $"keep one entry of {name}",
}

test_the_entry_that_does_not_count_is_found if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container pytorch of Worker",
		"NCCL_SOCKET_IFNAME",
		`"eth0"`,
	)} with input as examples.bad_pytorchjob
}

test_every_variable_of_every_list_of_containers_is_looked_at if {
	check.deny == {
		found("/spec/template/spec/initContainers/0/env/0", "init container probe", "CUDA_VERSION", `"13"`),
		found("/spec/template/spec/containers/0/env/2", "container vllm", "NCCL_DEBUG", `"WARN"`),
		found("/spec/template/spec/containers/0/env/1", "container vllm", "UCX_TLS", `"tcp"`),
	} with input as examples.bad_deployment
}

test_the_same_value_twice_is_still_one_too_many if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/0",
		"container train",
		"FI_PROVIDER",
		`"efa"`,
	)} with input as examples.bad_job
}

test_an_entry_that_extends_an_earlier_one_is_good if {
	check.deny == set() with input as examples.good_job
}

test_lists_of_their_own_are_there_to_override_each_other if {
	check.deny == set() with input as examples.good_spark
}

test_what_an_operator_appended_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}
