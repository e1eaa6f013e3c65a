package usher.lib.serving_test

import data.usher.lib.serving

workload(fields) := object.union({"group": "apps", "kind": "Deployment", "role": "service", "owned": false}, fields)

server := {"name": "vllm", "type": "container", "asksAccelerators": true}

kserve(annotations, object) := {
	"workload": workload({"group": "serving.kserve.io", "kind": "InferenceService", "annotations": annotations}),
	"object": {"inferenceService": object},
}

mode := "serving.kserve.io/deploymentMode"

test_services_and_inference_answer_requests_unless_a_controller_made_them if {
	every role in ["inference", "service"] {
		serving.serves with input as {"workload": workload({"role": role})}
		not serving.serves with input as {"workload": workload({"role": role, "owned": true})}
	}
	every role in ["training", "batch", "interactive", "system", "unknown"] {
		not serving.serves with input as {"workload": workload({"role": role})}
	}
}

test_a_model_server_holds_accelerators_as_long_as_its_pod_runs if {
	pod_set := {"name": "", "containers": [
		server,
		{"name": "router", "type": "container", "asksAccelerators": false},
		{"name": "convert", "type": "init container", "asksAccelerators": true},
		{"name": "cache", "type": "sidecar", "asksAccelerators": true},
	]}
	serving.model_servers == [{"podSet": pod_set, "container": server}] with input as {
		"workload": workload({}),
		"podSets": [pod_set],
	}
	serving.model_servers == [] with input as {"workload": workload({"role": "training"}), "podSets": [pod_set]}
}

test_the_defaults_of_a_probe_are_those_of_kubernetes if {
	serving.seconds_until_failure({}) == 30
	serving.seconds_until_failure({"periodSeconds": 0, "failureThreshold": 0}) == 30
	serving.seconds_until_failure({"periodSeconds": 5}) == 15
	serving.seconds_until_failure({"failureThreshold": 60}) == 600
	serving.seconds_until_failure({"initialDelaySeconds": 90, "periodSeconds": 1, "failureThreshold": 1}) == 91
}

test_kserve_merges_frameworks_and_presets_but_no_containers_of_other_kinds if {
	serving.merged("/spec/predictor/model") with input as kserve({}, {})
	not serving.merged("/spec/predictor/containers/0") with input as kserve({}, {})
	every kind in ["LLMInferenceService", "LLMInferenceServiceConfig"] {
		serving.merged("/spec/template/containers/0") with input as {"workload": workload({"kind": kind})}
	}
	not serving.merged("/spec/deploymentConfig") with input as {"workload": workload({"kind": "VLLMRuntime"})}
}

test_kserve_has_old_names_for_its_modes if {
	serving.kserve_mode == "Knative" with input as kserve({mode: "Serverless"}, {})
	serving.kserve_mode == "Standard" with input as kserve({mode: "RawDeployment"}, {})
	serving.kserve_mode == "" with input as kserve({}, {})
}

test_what_kserve_has_settled_on_counts_before_the_annotation if {
	settled := kserve({mode: "Knative"}, {"status": {"deploymentMode": "Standard"}})
	serving.kserve_mode == "Standard" with input as settled
	not serving.on_knative with input as settled
	serving.kserve_mode == "Knative" with input as kserve({mode: "Knative"}, {"status": {"deploymentMode": ""}})
}

test_knative_runs_its_own_kinds_and_what_kserve_hands_it if {
	serving.on_knative with input as {"workload": workload({"group": "serving.knative.dev", "kind": "Service"})}
	serving.on_knative with input as kserve({mode: "Knative"}, {})
	not serving.on_knative with input as {"workload": workload({"annotations": {mode: "Knative"}})}
	not serving.on_knative with input as {"workload": workload({"annotations": {}})}
	not serving.on_knative with input as kserve({mode: "Standard"}, {})
	not serving.on_knative with input as kserve({mode: "ModelMesh"}, {})
}

test_without_a_mode_it_may_be_knative_but_for_several_nodes if {
	serving.may_be_on_knative with input as kserve({}, {})
	serving.on_knative with input as kserve({}, {})
	not serving.may_be_on_knative with input as kserve({mode: "Knative"}, {})
	not serving.may_be_on_knative with input as {"workload": workload({"annotations": {}})}
	several := {"spec": {"predictor": {"workerSpec": {}}}}
	not serving.may_be_on_knative with input as kserve({}, several)
	not serving.on_knative with input as kserve({}, several)
}

test_only_some_values_of_a_key_mean_spot_nodes if {
	keys := ["karpenter.sh/capacity-type", "cloud.google.com/gke-spot"]
	serving.means_spot(keys, "karpenter.sh/capacity-type", "spot")
	serving.means_spot(keys, "karpenter.sh/capacity-type", "SPOT")
	serving.means_spot(keys, "cloud.google.com/gke-spot", "true")
	serving.means_spot(keys, "cloud.google.com/gke-spot", "")
	not serving.means_spot(keys, "karpenter.sh/capacity-type", "on-demand")
	not serving.means_spot(keys, "example.com/market", "spot")
}
