package usher.checks.objects.reclaims_from_higher_priority_test

import data.examples.checks.objects.reclaims_from_higher_priority as examples
import data.usher.checks.objects.reclaims_from_higher_priority as check

found := {{
	"path": "/spec/preemption/reclaimWithinCohort",
	"message": "reclaimWithinCohort Any also takes back lent quota from workloads with higher priority",
	"remedy": "set it to LowerPriority, or tell the teams that borrow",
}}

test_taking_from_anybody_is_found if {
	check.deny == found with input as examples.bad_queue
	check.deny == found with input as examples.bad_queue_of_v1beta1
	check.deny == found with input as examples.bad_queue_that_only_lends
}

test_taking_from_lower_priorities_is_good if {
	check.deny == set() with input as examples.good_queue
}

test_without_a_cohort_nobody_has_borrowed if {
	check.deny == set() with input as examples.good_queue_by_itself
}
