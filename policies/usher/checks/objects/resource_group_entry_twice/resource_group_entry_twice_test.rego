package usher.checks.objects.resource_group_entry_twice_test

import data.examples.checks.objects.resource_group_entry_twice as examples
import data.usher.checks.objects.resource_group_entry_twice as check

found(path, entry) := {
	"path": path,
	"message": $"{entry} is in the resource groups twice, so Kueue refuses the object",
	"remedy": "keep it once, in one group",
}

test_a_resource_of_two_groups_is_found if {
	check.deny == {found("/spec/resourceGroups/1/coveredResources/1", "resource memory")} with input as examples.bad_queue
}

test_a_flavor_of_two_groups_is_found if {
	check.deny == {found("/spec/resourceGroups/1/flavors/0/name", "flavor a100")} with input as examples.bad_queue_of_v1beta1
}

test_twice_in_one_group_is_found if {
	check.deny == {
		found("/spec/resourceGroups/0/coveredResources/1", "resource nvidia.com/gpu"),
		found("/spec/resourceGroups/0/flavors/1/name", "flavor a100"),
	} with input as examples.bad_cohort
}

test_entries_of_their_own_are_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_cohort
}
