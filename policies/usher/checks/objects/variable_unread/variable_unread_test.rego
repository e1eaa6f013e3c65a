package usher.checks.objects.variable_unread_test

import data.examples.checks.objects.variable_unread as examples
import data.usher.checks.objects.variable_unread as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_misspelt_variable_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/0/name",
		"Deployment sets the variable NCCL_SOCKET_IFNMAE, and no program reads it",
		"did you mean NCCL_SOCKET_IFNAME?",
	)} with input as examples.bad_deployment
}

test_a_variable_of_an_older_version_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/0/name",
		"Deployment sets the variable VLLM_USE_V1, which vLLM 0.12 and later do not read",
		"remove it: V1 is the only engine",
	)} with input as examples.bad_deployment_of_a_new_version
}

test_a_variable_that_nothing_sets_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/command/2",
		"Job uses the variable JOB_COMPLETION_INDEX in a command, and nothing sets it",
		"set completionMode: Indexed of a Job",
	)} with input as examples.bad_job
}

test_known_variables_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_job)
}
