package usher.checks.objects.volcano_queue_capability_test

import data.examples.checks.objects.volcano_queue_capability as examples
import data.usher.checks.objects.volcano_queue_capability as check

found(path, message) := {{
	"path": path,
	"message": message,
	"remedy": "set guarantee to at most deserved, and deserved to at most capability",
}}

test_a_queue_that_deserves_more_than_it_may_have_is_found if {
	check.deny == found(
		"/spec/deserved/nvidia.com~1gpu",
		"33 of nvidia.com/gpu is more than its capability of 32",
	) with input as examples.bad_queue_that_deserves_more
}

test_a_queue_that_is_guaranteed_more_than_it_deserves_is_found if {
	check.deny == found(
		"/spec/guarantee/resource/memory",
		"550829555712 of memory is more than its deserved 549755813888",
	) with input as examples.bad_queue_that_guarantees_more
}

test_a_queue_that_is_guaranteed_more_than_it_may_have_is_found if {
	check.deny == found(
		"/spec/guarantee/resource/cpu",
		"100500m of cpu is more than its capability of 100",
	) with input as examples.bad_queue_that_guarantees_without_deserving
}

test_one_finding_is_enough_where_the_queue_deserves_something if {
	both := json.patch(examples.bad_queue_that_guarantees_without_deserving, [{
		"op": "add",
		"path": "/object/volcanoQueue/spec/deserved",
		"value": {"cpu": {"text": "101", "value": 101, "milli": 101000, "whole": true}},
	}])
	check.deny == found(
		"/spec/deserved/cpu",
		"101 of cpu is more than its capability of 100",
	) with input as both
}

test_as_much_is_good_and_what_is_not_named_has_no_limit if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_queue_that_only_guarantees
}
