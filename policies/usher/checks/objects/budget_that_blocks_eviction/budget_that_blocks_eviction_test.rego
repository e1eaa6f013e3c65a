package usher.checks.objects.budget_that_blocks_eviction_test

import data.examples.checks.objects.budget_that_blocks_eviction as examples
import data.usher.checks.objects.budget_that_blocks_eviction as check

found(field, value) := {{
	"path": $"/spec/{field}",
	"message": $"{field} {value} allows no eviction of the pods, so their nodes cannot be drained",
	"remedy": "set maxUnavailable to 1",
}}

test_budgets_that_allow_no_eviction_are_found if {
	check.deny == found("maxUnavailable", 0) with input as examples.bad_none_unavailable
	check.deny == found("maxUnavailable", "0%") with input as examples.bad_no_part_unavailable
	check.deny == found("minAvailable", "100%") with input as examples.bad_all_available
}

test_a_budget_of_all_pods_is_found_by_its_status if {
	check.deny == {{
		"path": "/spec",
		"message": "4 of 4 pods must be available, so no eviction of them is allowed and their nodes cannot be drained",
		"remedy": "set maxUnavailable to 1",
	}} with input as examples.bad_by_status
}

test_the_field_alone_is_told_where_both_show_it if {
	status := {"object": {"disruptionBudget": {"status": {"expectedPods": 2, "desiredHealthy": 2}}}}
	both := object.union(examples.bad_none_unavailable, status)
	check.deny == found("maxUnavailable", 0) with input as both
}

test_budgets_with_room_are_good if {
	check.deny == set() with input as examples.good_one_unavailable
	check.deny == set() with input as examples.good_most_available
}

test_a_budget_without_pods_is_good if {
	without := json.patch(
		examples.bad_by_status,
		[{"op": "replace", "path": "/object/disruptionBudget/status", "value": {"expectedPods": 0, "desiredHealthy": 0}}],
	)
	check.deny == set() with input as without
}

test_system_namespaces_are_left_alone if {
	system := {"site": {"systemNamespace": true}}
	check.deny == set() with input as object.union(examples.bad_none_unavailable, system)
	check.deny == set() with input as object.union(examples.bad_by_status, system)
}
