package usher.lib.cooperation_test

import data.usher.lib.cooperation

service(kind, pod_sets) := {
	"workload": {"role": "inference", "kind": kind, "gang": {"minimum": 4, "wanted": true}},
	"podSets": pod_sets,
}

gpus(name, pods) := {"name": name, "asksAccelerators": true, "pods": pods}

one := {"minimum": 1, "maximum": 1}

test_training_computes_together if {
	cooperation.computes_together with input as {"workload": {"role": "training"}}
	not cooperation.computes_together with input as {"workload": {"role": "batch", "kind": "Job"}, "podSets": []}
}

test_a_model_spans_the_pods_of_a_group if {
	cooperation.spans_pods with input as service("LeaderWorkerSet", [])
	alone := json.patch(service("LeaderWorkerSet", []), [{"op": "replace", "path": "/workload/gang/minimum", "value": 1}])
	not cooperation.spans_pods with input as alone
}

test_a_service_with_workers_spans_pods[kind] if {
	some kind in ["DisaggregatedSet", "InferenceService", "LLMInferenceService"]
	every name in ["worker", "prefill worker", "decode-worker"] {
		cooperation.spans_pods with input as service(kind, [gpus("head", one), gpus(name, one)])
	}
	not cooperation.spans_pods with input as service(kind, [gpus("head", one), gpus("coworker", one)])
	not cooperation.spans_pods with input as service(kind, [gpus("worker", {"minimum": 0, "maximum": 0})])
}

test_a_ray_service_spans_pods_if_several_of_them_use_accelerators if {
	cooperation.spans_pods with input as service("RayService", [gpus("head", one), gpus("workers", one)])
	cooperation.spans_pods with input as service("RayService", [gpus("workers", {"minimum": 2, "maximum": 2})])
	cooperation.spans_pods with input as service("RayService", [gpus("workers", {"minimum": 1})])
	not cooperation.spans_pods with input as service("RayService", [gpus("workers", one)])
}

test_other_services_are_copies_of_one_pod if {
	not cooperation.spans_pods with input as service("Deployment", [gpus("worker", {"minimum": 4, "maximum": 4})])
}

of_unit(name, unit, pods) := object.union(gpus(name, one), {"unit": {"name": unit, "pods": pods}})

of_dynamo(pods) := object.union(
	service("DynamoGraphDeployment", [of_unit("a", "a", pods)]),
	{"workload": {"group": "nvidia.com"}},
)

test_a_component_of_several_nodes_and_a_scaling_group_span_pods if {
	cooperation.spans_pods with input as of_dynamo(2)
	not cooperation.spans_pods with input as of_dynamo(1)
	cooperation.spans_pods with input as service("PodCliqueSet", [of_unit("a", "g", 1), of_unit("b", "g", 1)])
	not cooperation.spans_pods with input as service("PodCliqueSet", [of_unit("a", "a", 4), of_unit("b", "b", 1)])
}
