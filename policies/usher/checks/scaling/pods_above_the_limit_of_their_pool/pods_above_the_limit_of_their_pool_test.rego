package usher.checks.scaling.pods_above_the_limit_of_their_pool_test

import data.examples.checks.scaling.pods_above_the_limit_of_their_pool as examples
import data.usher.checks.scaling.pods_above_the_limit_of_their_pool as check

test_more_gpus_than_the_limit_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector",
		"message": `4 pods ask for 32 nvidia.com/gpu, but the limit of NodePool "gpu" is 8, so some never start`,
		"remedy": "raise limits of the NodePool to 32, or ask for less",
	}} with input as examples.bad_pytorchjob
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector",
		"message": `2 pods ask for 16 nvidia.com/gpu, but the limit of NodePool "gpu" is 8, so some never start`,
		"remedy": "raise limits of the NodePool to 16, or ask for less",
	}} with input as examples.bad_statefulset
}

test_a_rollout_above_the_limit_is_found if {
	check.deny == {{
		"path": "/spec/strategy",
		"message": `a rollout needs 16 nvidia.com/gpu at once, but the limit of NodePool "gpu" is 8, so it never ends`,
		"remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate",
	}} with input as examples.bad_deployment
}

test_pods_below_the_limit_are_good if {
	check.deny == set() with input as examples.good_recreated
	check.deny == set() with input as examples.good_small
}

test_other_pools_do_not_matter if {
	check.deny == set() with input as examples.good_pool_without_limit
}

test_pods_that_a_controller_made_are_left_to_their_owner if {
	check.deny == set() with input as object.union(examples.bad_deployment, {"workload": {"owned": true}})
	check.deny == set() with input as object.union(examples.bad_statefulset, {"workload": {"owned": true}})
}
