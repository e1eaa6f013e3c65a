package usher.checks.fabric.efa_without_its_device_test

import data.examples.checks.fabric.efa_without_its_device as examples
import data.usher.checks.fabric.efa_without_its_device as check

found(path, container) := {{
	"path": path,
	"message": $"{container} may use EFA only (FI_PROVIDER), but does not ask for vpc.amazonaws.com/efa",
	"remedy": "add vpc.amazonaws.com/efa to its limits, or remove FI_PROVIDER",
}}

test_efa_without_its_device_is_found if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container pytorch of Worker",
	) with input as examples.bad_pytorchjob
	check.deny == found(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/env/0",
		"container worker of worker",
	) with input as examples.bad_leaderworkerset
}

test_a_device_of_another_container_does_not_help if {
	check.deny == found(
		"/spec/template/spec/containers/0/env/0",
		"container train",
	) with input as examples.bad_job
}

test_with_the_device_or_another_provider_it_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_other_ways_to_the_device_are_good if {
	check.deny == set() with input as examples.good_host_network
	check.deny == set() with input as examples.good_claim
	privileged := json.patch(examples.bad_job, [
		{"op": "add", "path": "/podSets/0/containers/0/securityContext", "value": {"privileged": true}},
	])
	check.deny == set() with input as privileged
}

test_the_resources_of_a_trainjob_may_be_its_runtimes if {
	check.deny == set() with input as examples.good_trainjob
}

test_ranks_that_do_not_see_it_are_left_alone if {
	unseen := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false}])
	check.deny == set() with input as unseen
}
