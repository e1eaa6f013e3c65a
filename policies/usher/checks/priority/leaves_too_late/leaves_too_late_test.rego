package usher.checks.priority.leaves_too_late_test

import data.examples.checks.priority.leaves_too_late as examples
import data.usher.checks.priority.leaves_too_late as check

grace(path, name, seconds) := {
	"path": path,
	"message": $"{name} may hold its accelerators for {seconds} seconds after it is evicted, more than the maximum of 7200",
	"remedy": "set terminationGracePeriodSeconds to at most 7200",
}

sleep(path, container, seconds) := {
	"path": path,
	"message": $"{container} sleeps for {seconds} seconds after the pod is evicted, and holds its accelerators, more than the maximum of 900",
	"remedy": "sleep for at most 900 seconds in preStop",
}

test_a_week_of_grace_is_found if {
	check.deny == {grace("/spec/terminationGracePeriodSeconds", "the pod", 604800)} with input as examples.bad_pod
	check.deny == {grace(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/terminationGracePeriodSeconds",
		"Worker",
		7201,
	)} with input as examples.bad_pytorchjob
}

test_a_hook_that_sleeps_is_found_however_it_does_so if {
	check.deny == {
		sleep("/spec/template/spec/containers/0/lifecycle/preStop", "container server", 3600),
		sleep("/spec/template/spec/containers/1/lifecycle/preStop", "container proxy", 901),
		sleep("/spec/template/spec/containers/2/lifecycle/preStop", "container metrics", 3600),
	} with input as examples.bad_deployment
}

test_a_hook_never_lasts_longer_than_the_grace_period if {
	check.deny == set() with input as examples.good_deployment
}

test_the_longest_allowed_times_are_good if {
	check.deny == set() with input as examples.good_job
}

test_pods_without_accelerators_hold_none if {
	check.deny == set() with input as examples.good_database
}

test_usher_yaml_sets_the_maximum if {
	other := {"parameters": {"priority/leaves_too_late": {"maximumSeconds": 604800, "maximumSleepSeconds": 3600}}}
	check.deny == set() with input as object.union(examples.bad_pod, {"site": other})
	check.deny == set() with input as object.union(examples.bad_deployment, {"site": other})
}
