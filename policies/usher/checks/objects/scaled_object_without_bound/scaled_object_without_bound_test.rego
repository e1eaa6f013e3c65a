package usher.checks.objects.scaled_object_without_bound_test

import data.examples.checks.objects.scaled_object_without_bound as examples
import data.usher.checks.objects.scaled_object_without_bound as check

unbounded := {{
	"path": "/spec",
	"message": "maxReplicaCount is missing, so KEDA may scale to 100 replicas",
	"remedy": "set maxReplicaCount",
	"assumption": "usher assumes that the scaled object asks for accelerators",
}}

test_a_missing_bound_is_found if {
	check.deny == unbounded with input as examples.bad_scaledobject
	check.deny == unbounded with input as examples.bad_scaledobject_of_a_leaderworkerset
	check.deny == unbounded with input as examples.bad_scaledobject_with_a_minimum
}

test_any_bound_is_good if {
	check.deny == set() with input as examples.good_scaledobject
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as examples.good_scaledobject_of_kserve
}
