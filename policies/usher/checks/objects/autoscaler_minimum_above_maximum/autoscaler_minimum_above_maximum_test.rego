package usher.checks.objects.autoscaler_minimum_above_maximum_test

import data.examples.checks.objects.autoscaler_minimum_above_maximum as examples
import data.usher.checks.objects.autoscaler_minimum_above_maximum as check

refused(minimum, maximum, minimum_field, maximum_field) := {{
	"path": $"/spec/{minimum_field}",
	"message": $"the minimum of {minimum} replicas is more than the maximum of {maximum}, so the autoscaler is refused",
	"remedy": $"lower {minimum_field}, or raise {maximum_field}",
}}

test_a_minimum_above_the_maximum_is_found if {
	check.deny == refused(3, 2, "minReplicas", "maxReplicas") with input as examples.bad_hpa
	check.deny == refused(4, 2, "minReplicaCount", "maxReplicaCount") with input as examples.bad_scaledobject
}

test_a_missing_maximum_is_that_of_keda if {
	check.deny == refused(
		120,
		100,
		"minReplicaCount",
		"maxReplicaCount",
	) with input as examples.bad_scaledobject_without_a_maximum
}

test_equal_bounds_are_good if {
	check.deny == set() with input as examples.good_hpa
	check.deny == set() with input as examples.good_scaledobject
}
