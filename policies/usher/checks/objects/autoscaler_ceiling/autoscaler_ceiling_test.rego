package usher.checks.objects.autoscaler_ceiling_test

import data.examples.checks.objects.autoscaler_ceiling as examples
import data.usher.checks.objects.autoscaler_ceiling as check

too_many(field, replicas, ceiling) := {{
	"path": $"/spec/{field}",
	"message": $"the autoscaler may scale to {replicas} replicas, more than the maximum of {ceiling}",
	"remedy": $"set at most {ceiling}, or have the maximum raised",
	"assumption": "usher assumes that the scaled object asks for accelerators",
}}

test_more_than_the_ceiling_is_found if {
	check.deny == too_many("maxReplicas", 101, 100) with input as examples.bad_hpa
	check.deny == too_many("maxReplicaCount", 200, 100) with input as examples.bad_scaledobject
}

test_a_namespace_may_have_another_ceiling if {
	check.deny == too_many("maxReplicas", 8, 4) with input as examples.bad_hpa_of_a_small_namespace
}

test_the_ceiling_itself_is_good if {
	check.deny == set() with input as examples.good_hpa
	check.deny == set() with input as examples.good_scaledobject
}

test_a_missing_maximum_is_for_another_check if {
	check.deny == set() with input as json.remove(examples.bad_scaledobject, ["/object/scaledObject/spec/maxReplicaCount"])
}

test_what_an_operator_made_is_left_alone if {
	owned := {"metadata": {"ownerReferences": [{}]}}
	check.deny == set() with input as object.union(
		examples.bad_hpa,
		{"object": {"horizontalPodAutoscaler": owned}},
	)
	check.deny == set() with input as object.union(examples.bad_scaledobject, {"object": {"scaledObject": owned}})
}
