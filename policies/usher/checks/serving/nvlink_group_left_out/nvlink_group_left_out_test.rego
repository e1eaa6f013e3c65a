package usher.checks.serving.nvlink_group_left_out_test

import data.examples.checks.serving.nvlink_group_left_out as examples
import data.usher.checks.serving.nvlink_group_left_out as check

found_in(example) := found if {
	found := {each.path | some each in check.deny} with input as example
}

test_a_clique_that_claims_its_gpus_is_found if {
	every example in [examples.bad_set, examples.bad_group, examples.bad_clique] {
		found_in(example) == {"/spec/template/cliques/0"}
	}
}

test_good_ones_pass if {
	every example in [examples.good_by_name, examples.good_opted_out] {
		check.deny == set() with input as example
	}
}
