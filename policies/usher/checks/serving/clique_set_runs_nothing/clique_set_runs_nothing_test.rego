package usher.checks.serving.clique_set_runs_nothing_test

import data.examples.checks.serving.clique_set_runs_nothing as examples
import data.usher.checks.serving.clique_set_runs_nothing as check

test_missing_replicas_are_found if {
	{found.path | some found in check.deny} == {"/spec"} with input as examples.bad_without_replicas
}

test_good_ones_pass if {
	every example in [examples.good_stopped, examples.good_one] {
		check.deny == set() with input as example
	}
}
