package usher.checks.objects.borrowing_without_cohort_test

import data.examples.checks.objects.borrowing_without_cohort as examples
import data.usher.checks.objects.borrowing_without_cohort as check

quota := "/spec/resourceGroups/0/flavors/0/resources/0"

found(path, text, remedy) := {"path": path, "message": text, "remedy": remedy}

of_queue := "name the cohort with cohortName, or remove the limit"

of_cohort := "name the parent with parentName, or remove the limit"

test_limits_of_a_queue_without_a_cohort_are_found if {
	check.deny == {
		found(
			"/spec/resourceGroups/0/flavors/1/resources/0/borrowingLimit",
			"flavor h100 sets borrowingLimit 32 of nvidia.com/gpu in a ClusterQueue without a cohort, so Kueue refuses the object",
			of_queue,
		),
		found(
			"/spec/resourceGroups/0/flavors/1/resources/0/lendingLimit",
			"flavor h100 sets lendingLimit 8 of nvidia.com/gpu in a ClusterQueue without a cohort, so Kueue refuses the object",
			of_queue,
		),
	} with input as examples.bad_queue
}

test_an_empty_name_is_no_cohort if {
	check.deny == {found(
		$"{quota}/borrowingLimit",
		"flavor a100 sets borrowingLimit 0 of cpu in a ClusterQueue without a cohort, so Kueue refuses the object",
		of_queue,
	)} with input as examples.bad_queue_of_v1beta1
}

test_limits_of_a_cohort_without_a_parent_are_found if {
	check.deny == {found(
		$"{quota}/lendingLimit",
		"flavor a100 sets lendingLimit 4 of nvidia.com/gpu in a Cohort without a parent, so Kueue refuses the object",
		of_cohort,
	)} with input as examples.bad_cohort
	nameless := object.union(examples.bad_cohort, {"object": {"cohort": {"spec": {"parentName": ""}}}})
	count(check.deny) == 1 with input as nameless
}

test_limits_in_a_cohort_are_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_queue_of_v1beta1
	check.deny == set() with input as examples.good_cohort
}

test_a_queue_without_limits_needs_no_cohort if {
	check.deny == set() with input as examples.good_queue_by_itself
}
