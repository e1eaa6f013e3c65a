package usher.checks.objects.autoscaler_of_a_managed_object_test

import data.examples.checks.objects.autoscaler_of_a_managed_object as examples
import data.usher.checks.objects.autoscaler_of_a_managed_object as check

test_a_target_that_an_operator_makes_is_found if {
	check.deny == {{"path": "/spec/scaleTargetRef", "message": `the operator of "InferenceService chat" sets the replicas of this Deployment, so the autoscaler is overruled`, "remedy": "use minReplicas, maxReplicas and scaleMetric of the InferenceService, or set its annotation serving.kserve.io/autoscalerClass: external"}} with input as examples.bad_inference_service
	check.deny == {{"path": "/spec/scaleTargetRef", "message": `the operator of "LLMInferenceService chat" sets the replicas of this Deployment, so the autoscaler is overruled`, "remedy": "use spec.scaling of the LLMInferenceService"}} with input as examples.bad_llm_service
	check.deny == {{"path": "/spec/scaleTargetRef", "message": `the operator of "LLMInferenceService chat" sets the replicas of this Deployment, so the autoscaler is overruled`, "remedy": "use spec.scaling of the LLMInferenceService"}} with input as examples.bad_pod_autoscaler
	check.deny == {{"path": "/spec/scaleTargetRef", "message": `the operator of "LeaderWorkerSet large" sets the replicas of this StatefulSet, so the autoscaler is overruled`, "remedy": "target the LeaderWorkerSet"}} with input as examples.bad_stateful_set_of_groups
	check.deny == {{"path": "/spec/scaleTargetRef", "message": `the operator of "DynamoGraphDeployment chat" sets the replicas of this Deployment, so the autoscaler is overruled`, "remedy": "set scalingAdapter.enabled in the service, and target its DynamoGraphDeploymentScalingAdapter"}} with input as examples.bad_service_of_a_graph
}

test_targets_of_the_files_and_of_services_that_leave_them_alone_are_good if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_left_to_others
	check.deny == set() with input as examples.good_made_by_hand
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_inference_service, {"object": {"horizontalPodAutoscaler": {"metadata": {"ownerReferences": [{}]}}}})
}
