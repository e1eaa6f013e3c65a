package usher.checks.placement.training_over_different_machines_test

import data.examples.checks.placement.training_over_different_machines as examples
import data.usher.checks.placement.training_over_different_machines as check

test_pools_with_different_gpus_are_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector",
		"message": "Worker may start on NodePool fast (p5.48xlarge: h100 and EFA) and on NodePool general (g6.48xlarge: l4), so one training runs on different machines",
		"remedy": "select one machine type by node.kubernetes.io/instance-type, or one pool by karpenter.sh/nodepool",
	}} with input as examples.bad_job
}

test_one_pool_and_one_pod_are_good if {
	check.deny == set() with input as examples.good_one_pool
	check.deny == set() with input as examples.good_one_pod
}

test_a_device_that_only_one_has_is_good if {
	check.deny == set() with input as examples.good_only_one_has_the_network
}
