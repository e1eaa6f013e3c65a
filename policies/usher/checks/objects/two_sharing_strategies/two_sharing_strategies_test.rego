package usher.checks.objects.two_sharing_strategies_test

import data.examples.checks.objects.two_sharing_strategies as examples
import data.usher.checks.objects.two_sharing_strategies as check

test_both_ways_in_one_configuration_are_found if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" shares by MPS and by time-slicing, but the device plugin uses only MPS`,
		"remedy": "keep one of sharing.mps and sharing.timeSlicing",
	}} with input as examples.bad_both
}

test_each_configuration_is_looked_at if {
	check.deny == {{
		"path": "/data/t4",
		"message": `the configuration "t4" shares by MPS and by time-slicing, but the device plugin uses only MPS`,
		"remedy": "keep one of sharing.mps and sharing.timeSlicing",
	}} with input as examples.bad_one_of_two
}

test_both_are_found_in_json if {
	check.deny == {{
		"path": "/data/config.json",
		"message": `the configuration "config.json" shares by MPS and by time-slicing, but the device plugin uses only MPS`,
		"remedy": "keep one of sharing.mps and sharing.timeSlicing",
	}} with input as examples.bad_json
}

test_one_way_for_each_configuration_is_good if {
	check.deny == set() with input as examples.good_two_configurations
}

test_a_way_that_is_null_is_none if {
	check.deny == set() with input as examples.good_null
}
