package usher.checks.serving.clique_set_without_gang_test

import data.examples.checks.serving.clique_set_without_gang as examples
import data.usher.checks.serving.clique_set_without_gang as check

found_in(example) := found if {
	found := [[each.path, each.message, object.get(each, "assumption", "")] | some each in check.deny] with input as example
}

test_gpus_on_the_default_scheduler_are_no_gang if {
	found_in(examples.bad_cliques) == [[
		"",
		"the default scheduler places the 3 pods with accelerators one by one, because Grove makes no PodGroup for it",
		"usher assumes that the default scheduler is the default of Grove",
	]]
	group := found_in(examples.bad_group)[0]
	contains(group[1], "the 4 pods")
	group[2] == ""
}

test_good_ones_pass if {
	every example in [examples.good_kai, examples.good_no_replicas, examples.good_one_pod] {
		check.deny == set() with input as example
	}
}
