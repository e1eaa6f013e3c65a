package usher.checks.objects.pod_group_of_one_test

import data.examples.checks.objects.pod_group_of_one as examples
import data.usher.checks.objects.pod_group_of_one as check

found(members) := {{
	"path": "/spec/minMember",
	"message": $"minMember is {members}, so Volcano places the pods of the group one by one and not as a gang",
	"remedy": "set minMember to the number of pods that start together",
}}

test_one_and_none_are_no_gang if {
	check.deny == found(1) with input as examples.bad_pod_group
	check.deny == found(0) with input as examples.bad_pod_group_without_minimum
	check.deny == found(0) with input as examples.bad_pod_group_without_spec
}

test_two_are_a_gang if {
	check.deny == set() with input as examples.good_pod_group
}

test_volcano_makes_groups_of_one_itself if {
	check.deny == set() with input as examples.good_pod_group_of_volcano
}

test_tasks_and_subgroups_count_by_themselves if {
	check.deny == set() with input as examples.good_pod_group_by_tasks
	check.deny == set() with input as examples.good_pod_group_by_subgroups
}
