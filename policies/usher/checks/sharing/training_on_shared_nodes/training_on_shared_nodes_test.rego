package usher.checks.sharing.training_on_shared_nodes_test

import data.examples.checks.sharing.training_on_shared_nodes as examples
import data.usher.checks.sharing.training_on_shared_nodes as check

remedy := "select nodes whose GPUs are not shared"

test_nodes_with_time_slices_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector/nvidia.com~1gpu.sharing-strategy",
		"message": `Worker trains on nodes with nvidia.com/gpu.sharing-strategy: "time-slicing", where several containers share a GPU`,
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_a_pool_with_shared_gpus_is_found if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec",
		"message": "Worker trains on the pool shared, where several containers share a GPU",
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_a_product_that_is_shared_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector/nvidia.com~1gpu.product",
		"message": `the pod trains on nodes with nvidia.com/gpu.product: "NVIDIA-A10-SHARED", where several containers share a GPU`,
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_nodes_with_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_what_may_run_on_another_pool_is_good if {
	check.deny == set() with input as examples.good_any_pool
}

test_serving_may_share if {
	check.deny == set() with input as examples.good_deployment
}

test_shares_by_name_are_for_another_check if {
	check.deny == set() with input as examples.good_shares_by_name
}
