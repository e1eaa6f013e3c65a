package usher.checks.objects.idle_count_not_below_minimum_test

import data.examples.checks.objects.idle_count_not_below_minimum as examples
import data.usher.checks.objects.idle_count_not_below_minimum as check

refused(idle, minimum) := {{
	"path": "/spec/idleReplicaCount",
	"message": $"idleReplicaCount {idle} is not below minReplicaCount {minimum}, so KEDA refuses the ScaledObject",
	"remedy": $"remove it, or set minReplicaCount to {idle + 1} or more",
}}

test_without_a_minimum_nothing_is_below_it if {
	check.deny == refused(0, 0) with input as examples.bad_without_a_minimum
}

test_idling_at_the_minimum_or_above_is_found if {
	check.deny == refused(1, 1) with input as examples.bad_at_the_minimum
	check.deny == refused(3, 2) with input as examples.bad_above_the_minimum
}

test_idling_above_zero_is_found if {
	check.deny == {{
		"path": "/spec/idleReplicaCount",
		"message": "idleReplicaCount is 1, but KEDA supports only 0: its autoscaler raises the replicas to 2 again",
		"remedy": "set idleReplicaCount to 0, or remove it and set minReplicaCount to 1",
	}} with input as examples.bad_above_zero
}

test_idling_below_the_minimum_is_good if {
	check.deny == set() with input as examples.good_below_the_minimum
}

test_without_idling_there_is_nothing_to_say if {
	check.deny == set() with input as examples.good_without_idling
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(
		examples.bad_at_the_minimum,
		{"object": {"scaledObject": {"metadata": {"ownerReferences": [{}]}}}},
	)
}
