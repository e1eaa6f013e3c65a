package usher.checks.objects.shared_resource_never_offered_test

import data.examples.checks.objects.shared_resource_never_offered as examples
import data.usher.checks.objects.shared_resource_never_offered as check

remedy := "share nvidia.com/gpu, or set flags.migStrategy to mixed"

assumption := "usher assumes that the operator and the arguments of the device plugin do not set another MIG strategy"

test_slices_by_name_are_found_under_single if {
	check.deny == {{
		"path": "/data/a100",
		"message": `the configuration "a100" shares "nvidia.com/mig-1g.10gb", which no node offers under its MIG strategy single`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_single
}

test_slices_are_found_where_there_are_none if {
	check.deny == {{
		"path": "/data/any",
		"message": `the configuration "any" shares "mig-3g.40gb", which no node offers under its MIG strategy none`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_none
}

test_they_are_found_in_json if {
	check.deny == {{
		"path": "/data/a100.json",
		"message": `the configuration "a100.json" shares "nvidia.com/mig-7g.80gb", which no node offers under its MIG strategy single`,
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_json
}

test_gpus_are_good_under_single if {
	check.deny == set() with input as examples.good_single
}

test_slices_by_name_are_good_under_mixed if {
	check.deny == set() with input as examples.good_mixed
}

test_a_configuration_without_strategy_leaves_it_to_the_operator if {
	check.deny == set() with input as examples.good_unsaid
}

test_slices_by_mps_are_for_another_check if {
	check.deny == set() with input as examples.good_mps
}
