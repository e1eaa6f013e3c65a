package usher.checks.objects.too_large_to_judge_test

import data.examples.checks.objects.too_large_to_judge as examples
import data.usher.checks.objects.too_large_to_judge as check

test_the_part_that_is_too_large_is_named if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits",
		"message": "Job has 251 limits (spec.template.spec.containers[0].resources.limits), and usher judges at most 250 in a pod",
		"remedy": "divide it among several pods",
	}} with input as examples.bad_resources
}

test_an_object_within_the_limits_is_not_found if {
	check.deny == set() with input as examples.good_resources
}
