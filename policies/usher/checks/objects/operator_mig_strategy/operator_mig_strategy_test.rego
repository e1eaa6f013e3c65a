package usher.checks.objects.operator_mig_strategy_test

import data.examples.checks.objects.operator_mig_strategy as examples
import data.usher.checks.objects.operator_mig_strategy as check

test_the_default_of_the_operator_is_found if {
	check.deny == {{
		"path": "/spec/mig/strategy",
		"message": `the MIG strategy is "single", but usher expects mixed unless usher.yaml names another one`,
		"remedy": "set the strategy to mixed, or set the parameter strategy of this check in usher.yaml",
	}} with input as examples.bad_single
}

test_it_is_found_beside_other_settings if {
	check.deny != set() with input as examples.bad_beside_a_manager
}

test_no_slices_at_all_are_found if {
	check.deny == {{
		"path": "/spec/mig/strategy",
		"message": `the MIG strategy is "none", but usher expects mixed unless usher.yaml names another one`,
		"remedy": "set the strategy to mixed, or set the parameter strategy of this check in usher.yaml",
	}} with input as examples.bad_none
}

test_a_site_may_want_another if {
	site := {"parameters": {"objects/operator_mig_strategy": {"strategy": "single"}}}
	check.deny == set() with input as object.union(examples.bad_single, {"site": site})
	check.deny == {{
		"path": "/spec/mig/strategy",
		"message": `the MIG strategy is "mixed", but usher.yaml expects single`,
		"remedy": "set the strategy to single, or set the parameter strategy of this check in usher.yaml",
	}} with input as object.union(examples.good_mixed, {"site": site})
}

test_mixed_is_good if {
	check.deny == set() with input as examples.good_mixed
}

test_the_default_of_an_operator_that_divides_no_board_is_good if {
	check.deny == set() with input as examples.good_without_slices
}

test_a_policy_that_says_nothing_is_good if {
	check.deny == set() with input as examples.good_without_mig
}
