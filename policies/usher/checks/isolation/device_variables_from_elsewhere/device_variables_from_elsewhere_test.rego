package usher.checks.isolation.device_variables_from_elsewhere_test

import data.examples.checks.isolation.device_variables_from_elsewhere as examples
import data.usher.checks.isolation.device_variables_from_elsewhere as check

all_names := "NVIDIA_VISIBLE_DEVICES or another one that gives devices"

from_elsewhere(path, container, names) := {
	"path": path,
	"message": $"{container} takes variables from an object that usher cannot read, and one of them may be {names}",
	"remedy": "name the variables one by one in env",
}

test_a_secret_is_never_read if {
	check.deny == {from_elsewhere(
		"/spec/template/spec/containers/0/envFrom/0",
		"container server",
		all_names,
	)} with input as examples.bad_deployment
}

test_a_prefix_and_the_entries_of_the_container_leave_fewer_names if {
	check.deny == {from_elsewhere(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/envFrom/1",
		"container pytorch of Worker",
		"NVIDIA_GDRCOPY or another one that gives devices",
	)} with input as examples.bad_pytorchjob
	one := json.patch(
		examples.bad_pytorchjob,
		[{"op": "replace", "path": "/podSets/0/containers/0/environmentSources/1/prefix", "value": "NVIDIA_IMEX"}],
	)
	check.deny == {from_elsewhere(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/envFrom/1",
		"container pytorch of Worker",
		"NVIDIA_IMEX_CHANNELS",
	)} with input as one
}

test_a_container_with_a_device_claim_has_devices_too if {
	finding := from_elsewhere("/spec/containers/0/envFrom/0", "container jupyter", all_names)
	check.deny == {finding} with input as examples.bad_pod
	by_claim_alone := json.patch(
		examples.bad_pod,
		[{"op": "replace", "path": "/podSets/0/containers/0/asksAccelerators", "value": false}],
	)
	check.deny == {finding} with input as by_claim_alone
}

test_containers_without_devices_get_none_by_it if {
	check.deny == set() with input as examples.good_job
}

test_a_known_object_is_left_to_another_check if {
	known := json.patch(
		examples.bad_deployment,
		[{"op": "add", "path": "/podSets/0/containers/0/environmentSources/0/variables", "value": {}}],
	)
	check.deny == set() with input as known
}

test_a_namespace_that_may_see_all_devices_is_left_alone if {
	check.deny == set() with input as examples.good_exporter
}
