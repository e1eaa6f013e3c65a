package usher.checks.objects.mps_on_mig_test

import data.examples.checks.objects.mps_on_mig as examples
import data.usher.checks.objects.mps_on_mig as check

test_mps_under_the_strategy_mixed_is_found if {
	check.deny == {{
		"path": "/data/a100",
		"message": `the configuration "a100" shares by MPS under the MIG strategy mixed, so the device plugin does not start`,
		"remedy": "share with sharing.timeSlicing, or use another strategy in this configuration",
		"assumption": "usher assumes that the operator and the arguments of the device plugin do not set another MIG strategy",
	}} with input as examples.bad_mixed
}

test_a_profile_among_the_resources_is_found if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" shares "nvidia.com/mig-3g.40gb" by MPS, which shares only whole GPUs`,
		"remedy": "share slices with sharing.timeSlicing",
	}} with input as examples.bad_profile
}

test_the_prefix_may_be_left_out if {
	check.deny == {{
		"path": "/data/a30.json",
		"message": `the configuration "a30.json" shares "mig-2g.12gb" by MPS, which shares only whole GPUs`,
		"remedy": "share slices with sharing.timeSlicing",
	}} with input as examples.bad_json
}

test_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_mps
}

test_slices_by_time_slicing_are_good if {
	check.deny == set() with input as examples.good_time_slicing
}

test_what_the_plugin_refuses_is_for_another_check if {
	check.deny == set() with input as examples.good_refused
}
