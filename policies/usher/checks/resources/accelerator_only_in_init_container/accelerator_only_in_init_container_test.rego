package usher.checks.resources.accelerator_only_in_init_container_test

import data.examples.checks.resources.accelerator_only_in_init_container as examples
import data.usher.checks.resources.accelerator_only_in_init_container as check

remedy := "move this step into a Job of its own, or ask for them in the container that continues to use them"

test_an_init_container_that_alone_asks_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/initContainers/0",
		"message": "init container convert asks for accelerators, but no later container does, so they idle for the rest of the pod's life",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_each_pod_set_is_looked_at_by_itself if {
	check.deny == {{
		"path": "/spec/tasks/0/template/spec/initContainers/0",
		"message": "init container embed of prepare asks for accelerators, but no later container does, so they idle for the rest of the pod's life",
		"remedy": remedy,
	}} with input as examples.bad_volcano_job
}

test_several_init_containers_are_found_each if {
	check.deny == {
		{
			"path": "/spec/initContainers/0",
			"message": "init container tune asks for accelerators, but no later container does, so they idle for the rest of the pod's life",
			"remedy": remedy,
		},
		{
			"path": "/spec/initContainers/1",
			"message": "init container measure asks for accelerators, but no later container does, so they idle for the rest of the pod's life",
			"remedy": remedy,
		},
	} with input as examples.bad_pod
}

test_a_container_that_goes_on_with_them_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_sidecar_goes_on_with_them_too if {
	check.deny == set() with input as examples.good_pod_with_sidecar
}

test_system_namespaces_may_validate_their_nodes_so if {
	check.deny == set() with input as examples.good_validator
}

test_a_daemon_set_of_a_tenant_is_judged_like_other_workloads if {
	count(check.deny) > 0 with input as object.union(examples.bad_deployment, {"workload": {"kind": "DaemonSet"}})
}
