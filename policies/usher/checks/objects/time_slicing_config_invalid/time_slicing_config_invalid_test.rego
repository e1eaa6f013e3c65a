package usher.checks.objects.time_slicing_config_invalid_test

import data.examples.checks.objects.time_slicing_config_invalid as examples
import data.usher.checks.objects.time_slicing_config_invalid as check

test_replicas_beside_the_list_are_found if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" has no resources in sharing.timeSlicing, so the device plugin refuses it`,
		"remedy": "write resources: [{name: nvidia.com/gpu, replicas: 4}]",
	}} with input as examples.bad_replicas
}

test_a_list_that_is_missing_or_empty_is_found if {
	remedy := "list the shared resources with name and replicas"
	check.deny == {
		{
			"path": "/data/a100",
			"message": `the configuration "a100" has no resources in sharing.mps, so the device plugin refuses it`,
			"remedy": remedy,
		},
		{
			"path": "/data/t4.yaml",
			"message": `the configuration "t4.yaml" has no resources in sharing.timeSlicing, so the device plugin refuses it`,
			"remedy": remedy,
		},
	} with input as examples.bad_no_resources
}

test_an_entry_that_lacks_either_is_found if {
	check.deny == {
		{
			"path": "/data/any",
			"message": `the configuration "any" has no name in sharing.timeSlicing.resources[0], so the device plugin refuses it`,
			"remedy": "set name of the shared resource",
		},
		{
			"path": "/data/any",
			"message": `the configuration "any" has no replicas in sharing.timeSlicing.resources[1], so the device plugin refuses it`,
			"remedy": "set replicas of the shared resource",
		},
	} with input as examples.bad_entries
}

test_a_single_replica_is_found if {
	remedy := "set 2 replicas or more, or remove the sharing"
	check.deny == {
		{
			"path": "/data/any",
			"message": `the configuration "any" has replicas: 1 in sharing.timeSlicing.resources[0], but the device plugin refuses less than 2`,
			"remedy": remedy,
		},
		{
			"path": "/data/any",
			"message": `the configuration "any" has replicas: 0 in sharing.timeSlicing.resources[1], but the device plugin refuses less than 2`,
			"remedy": remedy,
		},
	} with input as examples.bad_single_replica
}

test_two_replicas_are_good if {
	check.deny == set() with input as examples.good_time_slicing
}

test_a_configuration_that_shares_nothing_is_good if {
	check.deny == set() with input as examples.good_no_sharing
}

test_other_config_maps_are_good if {
	check.deny == set() with input as examples.good_other
}
