package usher.checks.objects.flavor_opens_its_own_taint_test

import data.examples.checks.objects.flavor_opens_its_own_taint as examples
import data.usher.checks.objects.flavor_opens_its_own_taint as check

found := {{
	"path": "/spec/nodeTaints/0",
	"message": `the flavor tolerates its own taint "spot", so Kueue gives it to workloads that do not tolerate the taint`,
	"remedy": "remove the toleration, or nodeTaints",
}}

test_a_flavor_that_tolerates_its_taint_is_found if {
	check.deny == found with input as examples.bad_flavor_of_any_value
	check.deny == found with input as examples.bad_flavor_of_the_value
}

test_a_flavor_that_keeps_its_taint_is_good if {
	check.deny == set() with input as examples.good_flavor_for_another_taint
	check.deny == set() with input as examples.good_flavor_of_another_value
}
