package usher.checks.fabric.variable_other_than_profile_test

import data.examples.checks.fabric.variable_other_than_profile as examples
import data.usher.checks.fabric.variable_other_than_profile as check

test_a_value_of_another_cluster_is_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"message": `container pytorch of Worker: NCCL_IB_HCA is "=mlx5_8:1", but the fabric rails of its nodes has "=mlx5_0:1"`,
		"remedy": "remove NCCL_IB_HCA",
	}} with input as examples.bad_pytorchjob
}

test_the_value_of_the_profile_and_what_nccl_logs_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_value_that_comes_from_elsewhere_is_not_known if {
	elsewhere := json.patch(examples.bad_pytorchjob, [{
		"op": "remove",
		"path": "/podSets/0/containers/0/environment/NCCL_IB_HCA/value",
	}])
	check.deny == set() with input as elsewhere
}

test_what_the_webhook_withholds_on_the_network_of_the_node_is_not_compared if {
	withheld := json.patch(examples.bad_pytorchjob, [
		{"op": "replace", "path": "/fabrics/rails/env/NCCL_IB_HCA", "value": "=eth0"},
		{"op": "add", "path": "/podSets/0/hostNetwork", "value": true},
	])
	check.deny == set() with input as withheld
}
