package usher.checks.objects.workload_priority_value_misplaced_test

import data.examples.checks.objects.workload_priority_value_misplaced as examples
import data.usher.checks.objects.workload_priority_value_misplaced as check

test_a_value_in_spec_is_found if {
	check.deny == {{
		"path": "/spec/value",
		"message": "a WorkloadPriorityClass has no spec, so Kueue does not read the value 1000",
		"remedy": "write value: 1000 at the top level",
	}} with input as examples.bad_class
}

test_it_is_found_beside_the_right_one_and_in_the_old_version if {
	check.deny == {{
		"path": "/spec/value",
		"message": "a WorkloadPriorityClass has no spec, so Kueue does not read the value 100",
		"remedy": "write value: 100 at the top level",
	}} with input as examples.bad_class_with_both
	check.deny == {{
		"path": "/spec/value",
		"message": "a WorkloadPriorityClass has no spec, so Kueue does not read the value -5",
		"remedy": "write value: -5 at the top level",
	}} with input as examples.bad_class_of_v1beta1
}

test_a_value_at_the_top_is_good if {
	check.deny == set() with input as examples.good_class
	check.deny == set() with input as examples.good_class_with_an_empty_spec
}
