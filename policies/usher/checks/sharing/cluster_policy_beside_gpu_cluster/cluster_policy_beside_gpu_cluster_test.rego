package usher.checks.sharing.cluster_policy_beside_gpu_cluster_test

import data.examples.checks.sharing.cluster_policy_beside_gpu_cluster as examples
import data.usher.checks.sharing.cluster_policy_beside_gpu_cluster as check

test_both_in_one_cluster_are_found if {
	every example in [examples.bad_both, examples.bad_without_device_plugin, examples.bad_order] {
		check.deny == {{
			"path": "",
			"message": "these files have a GPUCluster too, so the device plugin and the DRA driver would offer the same GPUs",
			"remedy": "keep one of ClusterPolicy and GPUCluster",
			"assumption": "usher assumes that both are for one cluster",
		}} with input as example
	}
}

test_one_way_to_manage_gpus_is_good if {
	check.deny == set() with input as examples.good_cluster_policy
	check.deny == set() with input as examples.good_driver
}

test_other_objects_are_good if {
	check.deny == set() with input as json.remove(examples.bad_both, ["/object/clusterPolicy"])
}
