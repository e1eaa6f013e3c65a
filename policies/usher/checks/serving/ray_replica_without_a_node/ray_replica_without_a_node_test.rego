package usher.checks.serving.ray_replica_without_a_node_test

import data.examples.checks.serving.ray_replica_without_a_node as examples
import data.usher.checks.serving.ray_replica_without_a_node as check

found(message, remedy) := {{"path": "/spec/serveConfigV2", "message": message, "remedy": remedy}}

test_a_replica_larger_than_every_node_is_found if {
	check.deny == found(
		`a replica of "VLLMDeployment" asks for 2 GPUs of one Ray node, but no group has nodes with more than 1, so it never starts`,
		"give the pods of a group 2 GPUs, ask for less, or use placement_group_bundles with a bundle for each node",
	) with input as examples.bad_replica
}

test_bundles_that_must_be_on_one_node_count_together if {
	check.deny == found(
		`a replica of "Chat" asks for 8 GPUs of one Ray node, but no group has nodes with more than 4, so it never starts`,
		"give the pods of a group 8 GPUs, ask for less, or use placement_group_bundles with a bundle for each node",
	) with input as examples.bad_packed_bundles
}

test_more_replicas_than_nodes_hold_are_found if {
	check.deny == found("the replicas of Ray Serve ask for 16 GPUs, but the Ray nodes have only 8, so some never start", "make more Ray nodes, or fewer replicas") with input as examples.bad_model
}

test_replicas_with_a_node_are_good if {
	check.deny == set() with input as examples.good_replica
	check.deny == set() with input as examples.good_parts_of_a_gpu
	check.deny == set() with input as examples.good_bundle_for_each_node
}

test_autoscaling_makes_more_nodes if {
	check.deny == set() with input as json.patch(examples.bad_model, [{"op": "add", "path": "/object/rayService/spec/rayClusterConfig/enableInTreeAutoscaling", "value": true}])
}

test_unknown_gpus_are_no_finding if {
	check.deny == set() with input as examples.good_tpus
}

test_clusters_that_another_object_made_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_replica, {"workload": {"owned": true}})
	check.deny == set() with input as object.union(examples.bad_model, {"workload": {"owned": true}})
}

test_a_replica_that_is_too_large_is_told_once if {
	both := json.patch(examples.bad_replica, [{"op": "replace", "path": "/object/rayService/spec/serveConfigV2/0/together", "value": 20000}])
	count(check.deny) == 1 with input as both
}

test_a_replica_with_more_cpus_than_every_node_with_its_gpus_is_found if {
	check.deny == found(
		`a replica of "VLLMDeployment" asks for 16 CPUs beside its GPUs of one Ray node, but nodes with these GPUs have only 8, so it never starts`,
		"set num_cpus to 8 or less, or give the pods of the group more CPUs",
	) with input as examples.bad_cpus
	enough := [{"op": "add", "path": "/object/rayService/spec/rayClusterConfig/workerGroupSpecs/0/rayStartParams", "value": {"num-cpus": "16"}}]
	check.deny == set() with input as json.patch(examples.bad_cpus, enough)
}
