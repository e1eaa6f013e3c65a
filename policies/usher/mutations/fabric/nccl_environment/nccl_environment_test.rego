package usher.mutations.fabric.nccl_environment_test

import data.examples.mutations.fabric.nccl_environment as examples
import data.usher.mutations.fabric.nccl_environment as mutation

profile_at(container) := {variable |
	some name, value in {"NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1", "NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1"}
	variable := {
		"at": container,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": "fabric rails needs it, and the pod can run only on nodes with this fabric",
	}
}

given(at, variables) := {variable |
	some name, value in variables
	variable := {
		"at": at,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": "fabric ethernet needs it, and the pod can run only on nodes with this fabric",
	}
}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_only_the_container_that_asks_gets_the_profile_of_all_its_pools if {
	container := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"
	mutation.intents == profile_at(container) with input as examples.before_pytorchjob
}

test_a_worker_group_gets_it_and_a_head_without_accelerators_does_not if {
	container := "/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/containers/0"
	mutation.intents == profile_at(container) with input as examples.before_rayjob
}

test_a_pool_without_a_fabric_means_that_nothing_is_known if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_on_two_fabrics
}

test_pools_of_different_fabrics_give_no_profile if {
	mixed := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/fits/1/fabric", "value": "roce"}])
	mutation.intents == set() with input as mixed
}

test_without_a_pool_there_is_no_profile if {
	homeless := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	mutation.intents == set() with input as homeless
}

test_ranks_that_do_not_inherit_the_environment_are_left_alone if {
	mutation.intents == set() with input as examples.untouched_mpijob
	mutation.skips == skipped(
		"/spec/mpiReplicaSpecs/Worker/template",
		"sshd starts its ranks, so they do not see the container's variables; pass these with mpirun -x or in /etc/nccl.conf",
	) with input as examples.untouched_mpijob
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
}

test_a_single_pod_needs_no_fabric if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
}

test_a_job_that_may_grow_without_bound_has_several_pods if {
	growing := json.patch(examples.untouched_job_of_one_pod, [
		{"op": "remove", "path": "/workload/pods/maximum"},
		{"op": "replace", "path": "/workload/gang/wanted", "value": true},
	])
	mutation.intents == profile_at("/spec/template/spec/containers/0") with input as growing
}

test_pods_that_each_train_by_themselves_get_no_fabric if {
	sweep := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	mutation.intents == set() with input as sweep
	mutation.skips == skipped("", "each of its pods trains by itself, as far as its command tells") with input as sweep
}

test_a_test_of_the_network_gets_the_fabric_if_its_pods_start_together if {
	batch := {"op": "replace", "path": "/workload/role", "value": "batch"}
	test := json.patch(examples.before_pytorchjob, [batch])
	before := mutation.intents with input as examples.before_pytorchjob
	before == mutation.intents with input as test
	alone := json.patch(test, [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	mutation.intents == set() with input as alone
}

test_a_shipped_profile_is_there_by_its_name if {
	mutation.intents == given("/spec/replicatedJobs/0/template/spec/template/spec/containers/0", {
		"NCCL_DEBUG": "WARN",
		"NCCL_IB_DISABLE": "1",
		"NCCL_SOCKET_IFNAME": "=eth0",
	}) with input as examples.before_jobset_on_ethernet
}

test_a_pod_on_the_network_of_its_node_is_not_sent_to_the_interface_of_pods if {
	mutation.intents == given("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0", {
		"NCCL_DEBUG": "WARN",
		"NCCL_IB_DISABLE": "1",
	}) with input as examples.before_leaderworkerset_on_the_node
	mutation.skips == skipped(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0",
		"it uses the network of its node, which may have no interface eth0, so the webhook does not set NCCL_SOCKET_IFNAME",
	) with input as examples.before_leaderworkerset_on_the_node
}

test_interfaces_of_other_names_are_given_to_such_a_pod[value] if {
	some value in ["=bond0", "eth", "^eth0", "en"]
	fabric := json.patch(examples.before_leaderworkerset_on_the_node, [
		{"op": "replace", "path": "/fabrics/ethernet/env", "value": {"NCCL_SOCKET_IFNAME": value}},
	])
	mutation.intents == given("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0", {"NCCL_SOCKET_IFNAME": value}) with input as fabric
}

test_a_fabric_without_variables_gives_none if {
	mutation.intents == set() with input as examples.untouched_jobset_without_variables
	mutation.skips == skipped(
		"/spec/replicatedJobs/0/template/spec/template/spec/containers/0",
		"fabric devices sets no variables",
	) with input as examples.untouched_jobset_without_variables
}

test_a_pod_set_in_which_nothing_trains_is_left_alone if {
	idle := json.remove(examples.before_jobset_on_ethernet, ["/podSets/0/containers/0/trains"])
	mutation.intents == set() with input as idle
	mutation.skips == skipped(
		"/spec/replicatedJobs/0/template/spec/template",
		"no container of the pod both trains and asks for accelerators",
	) with input as idle
}

test_pools_with_different_fabrics_are_told if {
	{warning.reason | some warning in mutation.warnings} == {"Worker gets no fabric profile, because it fits pool h200 with fabric rails and pool l40s without a fabric; select the nodes of one pool, or say in usher.yaml with pools[].for whom each pool is for"} with input as examples.untouched_pytorchjob_on_two_fabrics
	mutation.warnings == set() with input as examples.before_pytorchjob
	mutation.warnings == set() with input as examples.untouched_service
}

test_a_machine_that_no_pool_names_gets_no_profile_and_a_warning if {
	machine := [{"label": "node.kubernetes.io/instance-type", "values": ["g5.12xlarge"]}]
	elsewhere := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/podSets/0/undeclaredLabels", "value": machine}])
	mutation.intents == set() with input as elsewhere
	{warning.reason | some warning in mutation.warnings} == {"Worker gets no fabric profile, because it selects node.kubernetes.io/instance-type=g5.12xlarge, which no pool of usher.yaml names; add the label to the nodeSelector of the pool with these nodes"} with input as elsewhere
}

of_whole_nodes(gpus) := json.patch(examples.before_pytorchjob, [
	{"op": "add", "path": "/fabrics/rails/wholeNodes", "value": true},
	{"op": "add", "path": "/podSets/0/fits/0/gpus", "value": gpus},
])

test_a_fabric_for_whole_nodes_is_not_for_a_part_of_one if {
	asked := 8
	mutation.intents != set() with input as of_whole_nodes(asked)
	mutation.warnings == set() with input as of_whole_nodes(asked)
	mutation.intents == set() with input as of_whole_nodes(asked + 1)
	{warning.reason | some warning in mutation.warnings} == {$"Worker gets no fabric profile, because fabric rails is for pods with all {asked + 1} GPUs of a node, and a pod asks for {asked}"} with input as of_whole_nodes(asked + 1)
}

test_devices_that_no_pool_has_get_no_profile if {
	device := [{"label": "cloud.google.com/gke-accelerator", "values": ["nvidia-b200"]}]
	elsewhere := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/podSets/0/undeclaredDevices", "value": device}])
	mutation.intents == set() with input as elsewhere
	mutation.warnings == set() with input as elsewhere
	{skip.reason | some skip in mutation.skips} == {"the pods select devices that no declared node pool has"} with input as elsewhere
}

at_worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

test_without_infiniband_no_card_is_named if {
	mutation.intents == {intent |
		some intent in profile_at(at_worker)
		intent.value.name != "NCCL_IB_HCA"
	} with input as examples.before_pytorchjob_without_infiniband
	mutation.skips == skipped(
		at_worker,
		"the container sets NCCL_IB_DISABLE, so the webhook does not set NCCL_IB_HCA",
	) with input as examples.before_pytorchjob_without_infiniband
}

test_huge_pages_that_a_container_asks_for_stay_in_use if {
	names := {intent.value.name | some intent in mutation.intents} with input as examples.before_pytorchjob_with_huge_pages
	names == {"NCCL_DEBUG", "NCCL_SOCKET_IFNAME"}
	mutation.skips == skipped(
		at_worker,
		"the container asks for hugepages-2Mi, so the webhook does not switch huge pages off (FI_EFA_USE_HUGE_PAGE)",
	) with input as examples.before_pytorchjob_with_huge_pages
	plain := json.remove(examples.before_pytorchjob_with_huge_pages, ["/podSets/0/containers/0/resources/hugepages-2Mi"])
	count(mutation.intents) == 3 with input as plain
}

serving(group_size) := json.patch(examples.before_leaderworkerset_on_the_node, [
	{"op": "replace", "path": "/workload/role", "value": "inference"},
	{"op": "add", "path": "/workload/gang/minimum", "value": group_size},
])

test_a_model_that_spans_pods_gets_the_profile_like_training if {
	trained := mutation.intents with input as examples.before_leaderworkerset_on_the_node
	count(trained) == 2
	mutation.intents == trained with input as serving(4)
	mutation.intents == set() with input as serving(1)
	mutation.skips == skipped(
		"",
		"the role of the workload is inference, and only training and models that span pods get a fabric profile",
	) with input as serving(1)
}

test_a_model_that_spans_pods_needs_no_gang_for_its_fabric if {
	trained := mutation.intents with input as examples.before_leaderworkerset_on_the_node
	without_gang := json.patch(serving(4), [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	mutation.intents == trained with input as without_gang
}
