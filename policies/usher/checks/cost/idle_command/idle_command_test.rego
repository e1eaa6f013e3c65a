package usher.checks.cost.idle_command_test

import data.examples.checks.cost.idle_command as examples
import data.usher.checks.cost.idle_command as check

remedy := "run the program itself, or label the workload gpu-usher.io/role: interactive"

test_a_container_that_sleeps_for_ever_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/command",
		"message": "container shell holds accelerators, but its command only waits",
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_it_is_found_in_scripts_and_with_slices if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/command",
		"message": "container workbench holds accelerators, but its command only waits",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_it_is_found_among_the_arguments if {
	check.deny == {{
		"path": "/spec/tasks/0/template/spec/containers/0/args",
		"message": "container hold of hold holds accelerators, but its command only waits",
		"remedy": remedy,
	}} with input as examples.bad_volcano_job
}

test_what_is_said_to_be_interactive_may_wait if {
	check.deny == set() with input as examples.good_pod
}

test_what_others_come_into_and_what_holds_nothing_may_wait if {
	check.deny == set() with input as examples.good_mpijob
}

test_system_namespaces_are_left_alone if {
	check.deny == set() with input as examples.good_validator
}

test_only_the_first_container_of_a_pod_is_named if {
	again := json.patch(examples.bad_pod, [{
		"op": "add",
		"path": "/podSets/0/containers/-",
		"value": object.union(examples.bad_pod.podSets[0].containers[0], {"idleCommand": "/spec/containers/1/command"}),
	}])
	{finding.path | some finding in check.deny} == {"/spec/containers/0/command"} with input as again
}
