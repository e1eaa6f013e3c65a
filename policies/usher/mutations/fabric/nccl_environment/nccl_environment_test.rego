package usher.mutations.fabric.nccl_environment_test

import data.examples.mutations.fabric.nccl_environment as examples
import data.usher.mutations.fabric.nccl_environment as mutation

profile_at(container) := {variable |
	some name, value in {"NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1", "NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1"}
	variable := {
		"at": container,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": "fabric infiniband of the nodes on which the pod can run needs it",
	}
}

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
	mixed := json.patch(examples.before_pytorchjob, [
		{"op": "replace", "path": "/podSets/0/fits/1/fabric", "value": "roce"},
		{"op": "replace", "path": "/podSets/0/fits/1/variables", "value": {"NCCL_IB_GID_INDEX": "3"}},
	])
	mutation.intents == set() with input as mixed
}

test_without_a_pool_there_is_no_profile if {
	homeless := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	mutation.intents == set() with input as homeless
}

test_ranks_that_do_not_inherit_the_environment_are_left_alone if {
	mutation.intents == set() with input as examples.untouched_mpijob
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
}

test_a_single_pod_needs_no_fabric if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
}

test_a_job_that_may_grow_without_bound_has_several_pods if {
	growing := json.patch(examples.untouched_job_of_one_pod, [{"op": "remove", "path": "/workload/pods/maximum"}])
	mutation.intents == profile_at("/spec/template/spec/containers/0") with input as growing
}
