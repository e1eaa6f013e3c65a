package usher.checks.serving.role_group_gang_too_small_test

import data.examples.checks.serving.role_group_gang_too_small as examples
import data.usher.checks.serving.role_group_gang_too_small as check

found(field) := {{
	"path": $"/spec/roles/0/{field}",
	"message": "the gang waits for 3 of the 12 pods of role \"engine\", because the operator does not count the sizes of components",
	"remedy": "use leaderWorkerPattern, or a role for each component",
}}

test_the_gang_leaves_out_the_sizes_of_components if {
	check.deny == found("customComponentsPattern") with input as examples.bad_components
	check.deny == found("components") with input as examples.bad_older_components
}

test_other_groups_are_counted_in_full if {
	check.deny == set() with input as examples.good_one_component
	check.deny == set() with input as examples.good_without_a_gang
	check.deny == set() with input as examples.good_leader_and_workers
}
