package usher.checks.serving.tolerates_spot_nodes_test

import data.examples.checks.serving.tolerates_spot_nodes as examples
import data.usher.checks.serving.tolerates_spot_nodes as check

tolerated(path, name, key) := {{
	"path": path,
	"message": $"{name} answers requests and tolerates spot nodes (taint {key}), so all its replicas may run on spot nodes",
	"remedy": "remove the toleration, or select nodes that stay",
}}

test_a_toleration_of_spot_nodes_is_found if {
	check.deny == tolerated(
		"/spec/template/spec/tolerations/1",
		"the pod",
		"cloud.google.com/gke-spot",
	) with input as examples.bad_deployment
	check.deny == tolerated(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/tolerations/0",
		"worker",
		"kubernetes.azure.com/scalesetpriority",
	) with input as examples.bad_leaderworkerset
	check.deny == tolerated(
		"/spec/predictor/tolerations/0",
		"predictor",
		"karpenter.sh/capacity-type",
	) with input as examples.bad_inference_service
}

test_a_selector_says_where_the_pods_live if {
	check.deny == set() with input as examples.good_deployment
}

test_another_value_of_the_taint_is_no_spot_node if {
	check.deny == set() with input as examples.good_statefulset
}

test_batch_work_may_live_on_spot_nodes if {
	check.deny == set() with input as examples.good_deployment_of_batch_work
}

test_a_parameter_names_the_taints_of_spot_nodes if {
	check.deny == set() with input as json.patch(examples.bad_deployment, [{
		"op": "add",
		"path": "/site/parameters",
		"value": {"serving/tolerates_spot_nodes": {"spotKeys": ["example.com/market"]}},
	}])
}
