package usher.checks.queueing.ray_worker_group_named_head_test

import data.examples.checks.queueing.ray_worker_group_named_head as examples
import data.usher.checks.queueing.ray_worker_group_named_head as check

found(path, index, kind) := {{
	"path": $"{path}/workerGroupSpecs/{index}/groupName",
	"message": $"worker group {index} of the {kind} is named head, like Kueue's pod set for the head node, so Kueue refuses it in a queue",
	"remedy": "give the worker group another name",
}}

test_a_worker_group_named_head_is_found_in_every_kind if {
	check.deny == found("/spec", 1, "RayCluster") with input as examples.bad_raycluster
	check.deny == found("/spec/rayClusterSpec", 0, "RayJob") with input as examples.bad_rayjob
	check.deny == found("/spec/rayClusterConfig", 0, "RayService") with input as examples.bad_rayservice
}

test_other_names_are_good if {
	check.deny == set() with input as examples.good_raycluster
}

test_a_cluster_in_no_queue_may_have_it if {
	check.deny == set() with input as examples.good_raycluster_in_no_queue
}
