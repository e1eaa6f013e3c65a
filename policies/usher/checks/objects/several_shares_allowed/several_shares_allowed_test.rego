package usher.checks.objects.several_shares_allowed_test

import data.examples.checks.objects.several_shares_allowed as examples
import data.usher.checks.objects.several_shares_allowed as check

test_time_slices_may_be_several_by_default if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" allows requests for several shares with sharing.timeSlicing`,
		"remedy": "set sharing.timeSlicing.failRequestsGreaterThanOne to true",
	}} with input as examples.bad_default
}

test_shares_by_mps_may_be_several_where_it_says_so if {
	check.deny == {{
		"path": "/data/a100",
		"message": `the configuration "a100" allows requests for several shares with sharing.mps`,
		"remedy": "set sharing.mps.failRequestsGreaterThanOne to true",
	}} with input as examples.bad_mps
}

test_time_slices_may_be_several_where_it_says_so if {
	check.deny == {{
		"path": "/data/config.json",
		"message": `the configuration "config.json" allows requests for several shares with sharing.timeSlicing`,
		"remedy": "set sharing.timeSlicing.failRequestsGreaterThanOne to true",
	}} with input as examples.bad_json
}

test_time_slices_that_may_not_be_several_are_good if {
	check.deny == set() with input as examples.good_time_slicing
}

test_shares_by_mps_may_not_be_several_by_default if {
	check.deny == set() with input as examples.good_mps
}

test_what_the_plugin_refuses_is_for_another_check if {
	check.deny == set() with input as examples.good_refused
}
