package usher.checks.serving.selects_spot_nodes_test

import data.examples.checks.serving.selects_spot_nodes as examples
import data.usher.checks.serving.selects_spot_nodes as check

spot(path, name, label) := {{
	"path": $"{path}/nodeSelector",
	"message": $"{name} answers requests and runs on spot nodes only ({label}), but the cloud may take them back at any time",
	"remedy": "select nodes that stay, at least for some replicas",
}}

in_spot_pool := {{
	"path": "/spec/template/spec",
	"message": "the pod answers requests and runs only on the spot nodes of pool spot-l4, but the cloud may take them back at any time",
	"remedy": "let it also run on a pool whose nodes stay",
}}

test_a_selector_of_spot_nodes_is_found_by_every_cloud if {
	check.deny == spot("/spec/template/spec", "the pod", "cloud.google.com/gke-spot: true") with input as examples.bad_deployment
	check.deny == spot(
		"/spec/leaderWorkerTemplate/workerTemplate/spec",
		"worker",
		"eks.amazonaws.com/capacityType: SPOT",
	) with input as examples.bad_leaderworkerset
	check.deny == spot(
		"/spec/rayClusterConfig/workerGroupSpecs/0/template/spec",
		"gpu",
		"karpenter.sh/capacity-type: spot",
	) with input as examples.bad_rayservice
}

test_without_a_selector_the_declared_pools_tell if {
	check.deny == in_spot_pool with input as examples.bad_deployment_in_a_spot_pool
}

test_pools_are_not_reported_beside_the_selector if {
	both := json.patch(examples.bad_deployment_in_a_spot_pool, [{
		"op": "add",
		"path": "/podSets/0/nodeSelector/karpenter.sh~1capacity-type",
		"value": "spot",
	}])
	check.deny == spot("/spec/template/spec", "the pod", "karpenter.sh/capacity-type: spot") with input as both
}

test_one_pool_of_nodes_that_stay_is_enough if {
	check.deny == set() with input as examples.good_deployment_in_two_pools
	untolerated := json.patch(examples.good_deployment_in_two_pools, [{
		"op": "replace",
		"path": "/podSets/0/fits/0/untolerated",
		"value": [{"key": "team", "value": "search", "effect": "NoSchedule"}],
	}])
	check.deny == in_spot_pool with input as untolerated
}

test_without_declared_pools_nothing_is_known if {
	check.deny == set() with input as json.patch(examples.bad_deployment_in_a_spot_pool, [{
		"op": "replace",
		"path": "/podSets/0/fits",
		"value": [],
	}])
}

test_nodes_that_stay_are_good if {
	check.deny == set() with input as examples.good_statefulset
}

test_training_may_live_on_spot_nodes if {
	check.deny == set() with input as examples.good_training
	check.deny == set() with input as json.patch(examples.bad_deployment_in_a_spot_pool, [{
		"op": "replace",
		"path": "/workload/role",
		"value": "training",
	}])
}

test_a_parameter_names_the_labels_of_spot_nodes if {
	check.deny == set() with input as json.patch(examples.bad_deployment, [{
		"op": "add",
		"path": "/site/parameters",
		"value": {"serving/selects_spot_nodes": {"spotKeys": ["example.com/market"]}},
	}])
}
