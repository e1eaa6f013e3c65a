package usher.checks.tenancy.gpu_quota_unreadable_test

import data.examples.checks.tenancy.gpu_quota_unreadable as examples
import data.usher.checks.tenancy.gpu_quota_unreadable as check

found(path, reason) := {{
	"path": path,
	"message": $"usher cannot read the quota: {reason}",
	"remedy": "correct this field; until then the quota limits nothing",
}}

test_a_text_that_is_no_number_is_found_at_its_place if {
	check.deny == found("/spec/limits/0/hard/gpus", "'x' is not an amount; write a number (16) or thousandths (3500m)") with input as examples.bad_amount
	check.deny == found("/spec/limits/0/hard/memoryGiB", "'640Gi' is not an amount; write a number (16) or thousandths (3500m)") with input as examples.bad_amount_with_unit
}

test_a_field_that_does_not_exist_is_found if {
	check.deny == found("/spec/hard", "the field does not exist") with input as examples.bad_field
}

test_a_quota_without_limits_is_found if {
	check.deny == found("/spec/limits", "the field is missing") with input as examples.bad_without_limits
}

test_a_quota_without_spec_is_found if {
	check.deny == {{
		"path": "",
		"message": "usher cannot read the quota: it has no spec",
		"remedy": "set spec.limits, and spec.namespaces or spec.namespaceSelector",
	}} with input as examples.bad_without_spec
}

test_numbers_and_thousandths_are_good if {
	check.deny == set() with input as examples.good_amounts
}

test_another_check_reports_unknown_units if {
	check.deny == set() with input as examples.good_unknown_unit
}

test_objects_of_other_kinds_are_not_quotas if {
	check.deny == set() with input as {"object": {}}
}
