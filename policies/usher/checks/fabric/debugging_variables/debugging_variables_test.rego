package usher.checks.fabric.debugging_variables_test

import data.examples.checks.fabric.debugging_variables as examples
import data.usher.checks.fabric.debugging_variables as check

found(path, container, name, value) := {
	"path": path,
	"message": $"{container}: {name} {value} is for debugging and can slow down every step",
	"remedy": $"remove {name}",
}

test_switches_are_found_one_by_one if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env"
	check.deny == {
		found($"{worker}/0", "container pytorch of Worker", "NCCL_P2P_DISABLE", `"1"`),
		found($"{worker}/2", "container pytorch of Worker", "CUDA_LAUNCH_BLOCKING", `"1"`),
	} with input as examples.bad_pytorchjob
}

test_a_service_is_held_to_the_same if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/0",
		"container vllm",
		"NCCL_SHM_DISABLE",
		`"1"`,
	)} with input as examples.bad_deployment
}

test_the_list_may_be_another_in_a_namespace if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/1",
		"container embed",
		"NCCL_ALGO",
		`"Ring"`,
	)} with input as examples.bad_job_of_another_list
}

test_switched_off_from_elsewhere_and_other_variables_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_notebook_may_search_for_errors if {
	check.deny == set() with input as examples.good_notebook
}

test_ranks_that_do_not_see_it_are_as_fast_as_ever if {
	unseen := json.patch(examples.bad_pytorchjob, [
		{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false},
	])
	check.deny == set() with input as unseen
}
