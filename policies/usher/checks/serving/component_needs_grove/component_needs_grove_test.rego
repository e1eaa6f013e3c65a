package usher.checks.serving.component_needs_grove_test

import data.examples.checks.serving.component_needs_grove as examples
import data.usher.checks.serving.component_needs_grove as check

found_in(example) := found if {
	found := {each.path | some each in check.deny} with input as example
}

test_settings_of_grove_beside_an_opt_out_are_found if {
	found_in(examples.bad_class) == {"/spec/priorityClassName"}
	found_in(examples.bad_topology) == {"/spec/topologyConstraint"}
	found_in(examples.bad_minimum) == {"/spec/services/decode/minAvailable"}
}

test_good_ones_pass if {
	every example in [examples.good_with_grove, examples.good_without_setting] {
		check.deny == set() with input as example
	}
}
