package usher.checks.objects.two_autoscalers_of_one_target_test

import data.examples.checks.objects.two_autoscalers_of_one_target as examples
import data.usher.checks.objects.two_autoscalers_of_one_target as check

test_a_second_autoscaler_is_found if {
	check.deny == {{"path": "/spec/scaleTargetRef", "message": "HorizontalPodAutoscaler chat scales the same Deployment, and a workload can have only one autoscaler", "remedy": "keep one of them"}} with input as examples.bad_pod_autoscaler
	check.deny == {{"path": "/spec/scaleTargetRef", "message": "HorizontalPodAutoscaler chat-cpu scales the same Deployment, and a workload can have only one autoscaler", "remedy": "keep one of them"}} with input as examples.bad_scaled_object
	check.deny == {{"path": "/spec/scaleTargetRef", "message": "HorizontalPodAutoscaler chat-more scales the same Deployment, and a workload can have only one autoscaler", "remedy": "keep one of them"}} with input as examples.bad_two_of_kubernetes
}

test_one_autoscaler_of_each_workload_is_good if {
	check.deny == set() with input as examples.good_one
	check.deny == set() with input as examples.good_other_target
	check.deny == set() with input as examples.good_said_once
	check.deny == set() with input as examples.good_takes_over
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_pod_autoscaler, {"object": {"podAutoscaler": {"metadata": {"ownerReferences": [{}]}}}})
}
