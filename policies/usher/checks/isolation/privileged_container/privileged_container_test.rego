package usher.checks.isolation.privileged_container_test

import data.examples.checks.isolation.privileged_container as examples
import data.usher.checks.isolation.privileged_container as check

test_a_privileged_container_is_found_in_every_list if {
	check.deny == {
		{
			"path": "/spec/initContainers/0/securityContext/privileged",
			"message": "init container tune is privileged, so it can use every device of its node",
			"remedy": "remove privileged: true",
		},
		{
			"path": "/spec/ephemeralContainers/0/securityContext/privileged",
			"message": "ephemeral container debugger is privileged, so it can use every device of its node",
			"remedy": "remove privileged: true",
		},
	} with input as examples.bad_pod
}

test_it_is_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/securityContext/privileged",
		"message": "container agent is privileged, so it can use every device of its node",
		"remedy": "remove privileged: true",
	}} with input as examples.bad_daemonset
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/securityContext/privileged",
		"message": "container worker of Worker is privileged, so it can use every device of its node",
		"remedy": "remove privileged: true",
	}} with input as examples.bad_mpijob
}

test_privileges_that_are_denied_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_system_namespaces_may_have_them if {
	check.deny == set() with input as examples.good_driver
}

test_a_process_of_a_windows_node_counts_as_privileged if {
	check.deny == {
		windows("/spec/securityContext/windowsOptions/hostProcess", "the pod"),
		windows("/spec/containers/0/securityContext/windowsOptions/hostProcess", "container main"),
	} with input as examples.bad_windows_pod
	check.deny == set() with input as object.union(examples.bad_windows_pod, {"site": {"systemNamespace": true}})
}

windows(path, name) := {
	"path": path,
	"message": $"{name} runs as a process of its Windows node, so it can use every device there",
	"remedy": "remove hostProcess: true",
}
