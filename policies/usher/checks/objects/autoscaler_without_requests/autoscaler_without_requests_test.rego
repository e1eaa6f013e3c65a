package usher.checks.objects.autoscaler_without_requests_test

import data.examples.checks.objects.autoscaler_without_requests as examples
import data.usher.checks.objects.autoscaler_without_requests as check

test_a_container_without_a_request_is_found if {
	check.deny == {{"path": "/spec/metrics/0/resource", "message": `the autoscaler divides by the cpu that the pods request, but container "server" has no request for it, so it never gets a value`, "remedy": "set requests.cpu for each container of the pods"}} with input as examples.bad_autoscaler
	check.deny == {{"path": "/spec/triggers/0", "message": `the autoscaler divides by the memory that the pods request, but container "logs" has no request for it, so it never gets a value`, "remedy": "set requests.memory for each container of the pods"}} with input as examples.bad_sidecar
}

test_requests_limits_and_defaults_are_good if {
	check.deny == set() with input as examples.good_limits
	check.deny == set() with input as examples.good_limit_range
	check.deny == set() with input as examples.good_requests_waiting
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_autoscaler, {"object": {"horizontalPodAutoscaler": {"metadata": {"ownerReferences": [{}]}}}})
}
