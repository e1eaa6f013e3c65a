package usher.checks.objects.scaler_of_a_kind_that_cannot_scale_test

import data.examples.checks.objects.scaler_of_a_kind_that_cannot_scale as examples
import data.usher.checks.objects.scaler_of_a_kind_that_cannot_scale as check

idle(kind, remedy) := {{
	"path": "/spec/scaleTargetRef",
	"message": $"a {kind} has no scale subresource, so the autoscaler never changes it",
	"remedy": $"{remedy}",
}}

other := "target a kind that can be scaled, for example a Deployment or a LeaderWorkerSet"

targeting(group, kind) := json.patch(examples.good_hpa, [{
	"op": "replace",
	"path": "/object/horizontalPodAutoscaler/spec/scaleTargetRef",
	"value": {"apiVersion": $"{group}/v1", "kind": kind, "name": "chat"},
}])

test_kinds_with_autoscalers_of_their_own_are_found if {
	ray := "use enableInTreeAutoscaling with minReplicas and maxReplicas of the worker groups"
	check.deny == idle("RayCluster", ray) with input as examples.bad_hpa_of_a_raycluster
	kserve := "use minReplicas and maxReplicas of the InferenceService"
	check.deny == idle("InferenceService", kserve) with input as examples.bad_scaledobject_of_an_inference_service
	knative := "use the annotations autoscaling.knative.dev/min-scale and max-scale"
	check.deny == idle("Service", knative) with input as targeting("serving.knative.dev", "Service")
	check.deny == idle("SparkApplication", "use dynamicAllocation of the SparkApplication") with input as targeting(
		"sparkoperator.k8s.io",
		"SparkApplication",
	)
}

test_jobs_are_as_large_as_they_were_made if {
	check.deny == idle("JobSet", other) with input as examples.bad_hpa_of_a_jobset
	every target in [
		["batch", "Job"],
		["batch", "CronJob"],
		["batch.volcano.sh", "Job"],
		["trainer.kubeflow.org", "TrainJob"],
		["kubeflow.org", "MPIJob"],
		["workload.codeflare.dev", "AppWrapper"],
		["argoproj.io", "Workflow"],
		["apps", "DaemonSet"],
	] {
		check.deny == idle(target[1], other) with input as targeting(target[0], target[1])
	}
}

test_a_kind_of_the_core_group_has_no_group if {
	check.deny == idle("Pod", other) with input as json.patch(examples.good_hpa, [{
		"op": "replace",
		"path": "/object/horizontalPodAutoscaler/spec/scaleTargetRef",
		"value": {"apiVersion": "v1", "kind": "Pod", "name": "chat"},
	}])
}

test_kinds_that_can_be_scaled_are_good if {
	check.deny == set() with input as examples.good_hpa
	check.deny == set() with input as examples.good_hpa_of_a_pytorchjob
	check.deny == set() with input as examples.good_scaledobject
}

test_a_kind_of_another_group_is_another_kind if {
	check.deny == set() with input as targeting("argoproj.io", "Rollout")
	check.deny == set() with input as targeting("example.com", "RayCluster")
}
