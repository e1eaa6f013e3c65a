package usher.checks.objects.shared_gpus_not_renamed_test

import data.examples.checks.objects.shared_gpus_not_renamed as examples
import data.usher.checks.objects.shared_gpus_not_renamed as check

test_shares_that_keep_the_name_are_found if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" gives shares the name of whole GPUs with sharing.timeSlicing`,
		"remedy": "set sharing.timeSlicing.renameByDefault to true",
	}} with input as examples.bad_default
}

test_mps_is_held_to_the_same if {
	check.deny == {{
		"path": "/data/a100",
		"message": `the configuration "a100" gives shares the name of whole GPUs with sharing.mps`,
		"remedy": "set sharing.mps.renameByDefault to true",
	}} with input as examples.bad_mps
}

test_shares_that_are_told_to_keep_the_name_are_found if {
	check.deny == {{
		"path": "/data/config.json",
		"message": `the configuration "config.json" gives shares the name of whole GPUs with sharing.timeSlicing`,
		"remedy": "set sharing.timeSlicing.renameByDefault to true",
	}} with input as examples.bad_json
}

test_shares_that_are_renamed_are_good if {
	check.deny == set() with input as examples.good_renamed
}

test_what_the_plugin_refuses_is_for_another_check if {
	check.deny == set() with input as examples.good_refused
}
