package usher.checks.resources.guaranteed_training_pods_test

import data.examples.checks.resources.guaranteed_training_pods as examples
import data.usher.checks.resources.guaranteed_training_pods as check

remedy := "set requests and limits of cpu and memory to the same amounts"

remedy_of_whole_pod := "set limits of cpu and memory there, and equal requests or no requests"

test_every_container_that_is_not_guaranteed_is_found if {
	spec := "/spec/pytorchReplicaSpecs/Worker/template/spec"
	check.deny == {
		{
			"path": $"{spec}/initContainers/0",
			"message": "init container wait of Worker has a limit of 128Mi memory but a request of 64Mi, so its pod is not Guaranteed",
			"remedy": remedy,
		},
		{
			"path": $"{spec}/initContainers/1",
			"message": "sidecar exporter of Worker has no limit of cpu and no limit of memory, so its pod is not Guaranteed",
			"remedy": remedy,
		},
		{
			"path": $"{spec}/containers/0",
			"message": "container pytorch of Worker has a limit of 96 cpu but a request of 48 and a limit of 512Gi memory but a request of 256Gi, so its pod is not Guaranteed",
			"remedy": remedy,
		},
	} with input as examples.bad_pytorchjob
}

test_a_request_without_a_limit_is_not_guaranteed if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0",
		"message": "container train has no limit of cpu, so its pod is not Guaranteed",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_resources_of_the_pod_as_a_whole_decide_alone if {
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/resources",
		"message": "the resources of workers as a whole have a limit of 64 cpu but a request of 32 and no limit of memory, so it is not Guaranteed",
		"remedy": remedy_of_whole_pod,
	}} with input as examples.bad_jobset
	check.deny == {{
		"path": "/spec/resources",
		"message": "the resources of the pod as a whole have no limit of cpu and no limit of memory, so it is not Guaranteed",
		"remedy": remedy_of_whole_pod,
	}} with input as examples.bad_pod_with_requests_alone
	check.deny == set() with input as examples.good_pod_as_a_whole
}

test_limits_of_the_pod_as_a_whole_are_enough if {
	patches := [{"op": "remove", "path": "/podSets/0/podRequests"}]
	check.deny == set() with input as json.patch(examples.good_pod_as_a_whole, patches)
}

test_equal_amounts_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_mpijob
}

test_a_debugger_changes_nothing if {
	check.deny == set() with input as examples.good_pod_with_debugger
}

test_other_workloads_may_share_what_they_do_not_need if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_service_with_resources_of_the_pod
}
