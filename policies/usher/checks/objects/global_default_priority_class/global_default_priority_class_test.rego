package usher.checks.objects.global_default_priority_class_test

import data.examples.checks.objects.global_default_priority_class as examples
import data.usher.checks.objects.global_default_priority_class as check

found(value) := {{
	"path": "/globalDefault",
	"message": $"every pod without a class gets the value {value} of this class and may evict pods with a lower value",
	"remedy": "remove globalDefault, or set preemptionPolicy to Never",
}}

test_a_default_that_evicts_is_found if {
	check.deny == found(1000) with input as examples.bad_class
	check.deny == found(1) with input as examples.bad_class_with_the_default_policy
	check.deny == found(500) with input as examples.bad_class_by_a_tenant
}

test_administrators_may_make_one if {
	check.deny == set() with input as examples.good_class_by_an_administrator
}

test_a_default_that_evicts_nobody_is_good if {
	check.deny == set() with input as examples.good_class_that_waits
	check.deny == set() with input as examples.good_class_of_value_0
}

test_a_class_that_is_no_default_is_good if {
	check.deny == set() with input as examples.good_class_that_is_no_default
}
