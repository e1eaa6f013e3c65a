package usher.checks.resources.cpu_and_memory_requested_test

import data.examples.checks.resources.cpu_and_memory_requested as examples
import data.usher.checks.resources.cpu_and_memory_requested as check

assumption := "usher assumes that no LimitRange or operator default adds it"

test_a_workload_is_reported_once_at_its_first_container if {
	check.deny == {{
		"path": "/spec/template/spec/initContainers/0",
		"message": "init container convert asks for accelerators, but not for memory, so the scheduler reserves no share for it; 1 other container of the workload lacks requests too",
		"remedy": "set requests of memory",
		"assumption": assumption,
	}} with input as examples.bad_deployment
	twice := json.patch(examples.bad_deployment, [{
		"op": "add",
		"path": "/podSets/1",
		"value": examples.bad_deployment.podSets[0],
	}])
	some finding in check.deny with input as twice
	endswith(finding.message, "3 other containers of the workload lack requests too")
}

test_a_predictor_is_held_to_it_as_well if {
	check.deny == {{
		"path": "/spec/predictor/model",
		"message": "container kserve-container of predictor asks for accelerators, but not for cpu, so the scheduler reserves no share for it",
		"remedy": "set requests of cpu in spec.predictor.model.resources",
		"assumption": "usher assumes that neither the serving runtime nor a LimitRange adds it",
	}} with input as examples.bad_inferenceservice
}

test_what_the_pod_as_a_whole_asks_for_counts_for_that_resource_alone if {
	check.deny == {{
		"path": "/spec/containers/0",
		"message": "container notebook asks for accelerators, but not for memory, so the scheduler reserves no share for it",
		"remedy": "set requests of memory",
		"assumption": assumption,
	}} with input as examples.bad_pod
}

test_of_a_pod_that_the_api_server_sends_nothing_has_to_be_assumed if {
	check.deny == {{
		"path": "/spec/containers/0",
		"message": "container notebook asks for accelerators, but not for memory, so the scheduler reserves no share for it",
		"remedy": "set requests of memory",
	}} with input as examples.bad_pod_at_admission
}

test_a_template_may_be_filled_in_later_even_at_admission if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0",
		"message": "container tokenize asks for accelerators, but not for memory, so the scheduler reserves no share for it",
		"remedy": "set requests of memory",
		"assumption": assumption,
	}} with input as examples.bad_job_at_admission
}

test_a_limit_stands_in_for_a_request_and_other_containers_do_not_matter if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_requests_and_limits_of_the_pod_as_a_whole_are_enough if {
	check.deny == set() with input as examples.good_pod_as_a_whole
}

test_system_namespaces_are_left_alone if {
	check.deny == set() with input as examples.good_validator
}
