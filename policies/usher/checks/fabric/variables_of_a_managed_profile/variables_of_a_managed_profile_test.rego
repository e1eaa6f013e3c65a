package usher.checks.fabric.variables_of_a_managed_profile_test

import data.examples.checks.fabric.variables_of_a_managed_profile as examples
import data.usher.checks.fabric.variables_of_a_managed_profile as check

found(path, container, names) := {{
	"path": path,
	"message": $"{container} sets variables that the GPUDirect-TCPXO profile sets differently in each release: {names}",
	"remedy": "remove them, and source the script nccl-env-profile.sh of the node",
}}

test_fixed_variables_are_found_once_for_each_container if {
	check.deny == found(
		"/spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/1",
		"container train of workers",
		"NCCL_FASTRAK_CTRL_DEV, NCCL_FASTRAK_NUM_FLOWS",
	) with input as examples.bad_jobset
}

test_those_of_the_checker_are_its_own_too if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container pytorch of Worker",
		"NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE",
	) with input as examples.bad_pytorchjob
	check.deny == found(
		"/spec/containers/0/env/0",
		"container nccl-test",
		"NCCL_FASTRAK_IFNAME",
	) with input as examples.bad_pod
}

test_what_belongs_into_the_manifest_is_good if {
	check.deny == set() with input as examples.good_jobset
}

test_other_stacks_want_theirs_in_the_manifest if {
	check.deny == set() with input as examples.good_pod
}

test_ranks_that_do_not_see_it_are_left_alone if {
	unseen := json.patch(examples.bad_pod, [{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false}])
	check.deny == set() with input as unseen
}
