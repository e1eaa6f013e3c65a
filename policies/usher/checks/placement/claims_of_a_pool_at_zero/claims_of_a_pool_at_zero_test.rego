package usher.checks.placement.claims_of_a_pool_at_zero_test

import data.examples.checks.placement.claims_of_a_pool_at_zero as examples
import data.usher.checks.placement.claims_of_a_pool_at_zero as check

test_a_claim_that_waits_for_the_first_node_is_found if {
	check.deny == {{
		"path": "/spec/resourceClaims",
		"message": `the pod claims devices, and only "NodePool cold (g6.xlarge)" could hold it, which has no node here: an autoscaler learns the devices of a pool from the ResourceSlices of its nodes, so it cannot go from 0 to 1 for this claim`,
		"remedy": "keep one node in the pool, or ask for the resource of the device plugin, for example nvidia.com/gpu",
		"assumption": "usher assumes that the autoscaler does not know the devices of the pool in another way",
	}} with input as examples.bad_pod
}

test_a_pool_with_a_node_and_a_device_plugin_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_of_a_device_plugin
}
