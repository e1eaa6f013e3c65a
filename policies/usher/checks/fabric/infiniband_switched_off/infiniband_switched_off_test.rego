package usher.checks.fabric.infiniband_switched_off_test

import data.examples.checks.fabric.infiniband_switched_off as examples
import data.usher.checks.fabric.infiniband_switched_off as check

found(path, name, variable) := {{
	"path": path,
	"message": $"{name}: {variable} stops the ranks from using the fabric rails of their nodes",
	"remedy": $"remove {split(variable, " ")[0]}",
}}

test_a_switch_is_found_on_nodes_with_a_fabric if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container pytorch of Worker",
		`NCCL_IB_DISABLE "1"`,
	) with input as examples.bad_pytorchjob
	check.deny == found(
		"/spec/template/spec/containers/0/env/0",
		"container train",
		`NCCL_IB_DISABLE "1"`,
	) with input as examples.bad_job
}

test_sockets_by_name_are_the_same if {
	check.deny == found(
		"/spec/workerGroupSpecs/0/template/spec/containers/0/env/0",
		"container ray-worker of gpu",
		`NCCL_NET "Socket"`,
	) with input as examples.bad_raycluster
}

test_switched_on_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_pool_without_infiniband_is_why_it_is_switched_off if {
	check.deny == set() with input as examples.good_job_on_ethernet
}

test_one_pool_without_a_fabric_is_reason_enough if {
	check.deny == set() with input as examples.good_job_on_either
}

test_a_profile_that_switches_it_off_itself_is_for_another_network if {
	off := json.patch(examples.bad_job, [{"op": "add", "path": "/fabrics/rails/env/NCCL_IB_DISABLE", "value": "1"}])
	check.deny == set() with input as off
	on := json.patch(examples.bad_job, [{"op": "add", "path": "/fabrics/rails/env/NCCL_IB_DISABLE", "value": "0"}])
	count(check.deny) == 1 with input as on
}

test_a_profile_that_forbids_the_switch_needs_no_variable_of_infiniband if {
	plain := json.patch(examples.bad_job, [
		{"op": "replace", "path": "/fabrics/rails/env", "value": {"NCCL_DEBUG": "WARN"}},
		{"op": "replace", "path": "/fabrics/rails/forbidden", "value": ["NCCL_IB_DISABLE"]},
	])
	count(check.deny) == 1 with input as plain
	unknown := json.patch(plain, [{"op": "replace", "path": "/fabrics/rails/forbidden", "value": []}])
	check.deny == set() with input as unknown
}

test_without_a_pool_nothing_is_known_of_the_fabric if {
	homeless := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	check.deny == set() with input as homeless
}

test_a_single_pod_needs_no_fabric if {
	alone := json.patch(examples.bad_job, [{"op": "replace", "path": "/workload/pods/maximum", "value": 1}])
	check.deny == set() with input as alone
}

test_ranks_that_do_not_see_it_use_the_fabric if {
	check.deny == set() with input as examples.good_mpijob
}

test_a_switch_beside_a_device_for_rdma_is_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"message": `container pytorch of Worker: NCCL_IB_DISABLE "1" stops the ranks from using rdma/hca_shared_devices_a, which it asks for`,
		"remedy": "remove NCCL_IB_DISABLE",
	}} with input as examples.bad_device
}
