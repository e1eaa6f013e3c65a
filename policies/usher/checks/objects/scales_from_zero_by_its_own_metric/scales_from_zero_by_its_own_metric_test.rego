package usher.checks.objects.scales_from_zero_by_its_own_metric_test

import data.examples.checks.objects.scales_from_zero_by_its_own_metric as examples
import data.usher.checks.objects.scales_from_zero_by_its_own_metric as check

test_a_metric_that_needs_a_pod_to_start_the_first_one_is_found if {
	check.deny == {{"path": "/spec/triggers/0", "message": "the ScaledObject may scale to 0, but only the pods of the service report metrics that begin with vllm:, so no trigger ever starts the first one", "remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway"}} with input as examples.bad_default_minimum
	check.deny == {{"path": "/spec/triggers/0", "message": "the ScaledObject may scale to 0, but only the pods of the service report metrics that begin with sglang:, so no trigger ever starts the first one", "remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway"}} with input as examples.bad_idle
	check.deny == {{"path": "/spec/triggers/0", "message": "the ScaledObject may scale to 0, but only the pods of the service report metrics that begin with tgi_, so no trigger ever starts the first one", "remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway"}} with input as examples.bad_tgi
}

test_a_trigger_for_cpu_starts_no_first_pod_either if {
	{finding.path | some finding in check.deny} == {"/spec/triggers/0"} with input as examples.bad_beside_cpu
	check.deny == {{"path": "/spec/triggers/0", "message": "the ScaledObject may scale to 0, but has only triggers for cpu and memory: nothing starts the first pod, so KEDA refuses it", "remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway"}} with input as examples.bad_cpu_alone
}

test_a_minimum_and_other_metrics_are_good if {
	check.deny == set() with input as examples.good_gateway
	check.deny == set() with input as examples.good_minimum
	check.deny == set() with input as examples.good_never_empty
	check.deny == set() with input as examples.good_second_trigger
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_default_minimum, {"object": {"scaledObject": {"metadata": {"ownerReferences": [{}]}}}})
}
