package usher.checks.fabric.efa_variables_of_old_stacks_test

import data.examples.checks.fabric.efa_variables_of_old_stacks as examples
import data.usher.checks.fabric.efa_variables_of_old_stacks as check

found(path, container, names) := {{
	"path": path,
	"message": $"{container} sets variables that only old EFA stacks need: {names}",
	"remedy": "remove them if the image has libfabric 1.18 and aws-ofi-nccl 1.7 or later",
}}

test_all_of_a_container_are_found_together if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/2",
		"container pytorch of Worker",
		"FI_EFA_ENABLE_SHM_TRANSFER, FI_EFA_FORK_SAFE, FI_EFA_USE_DEVICE_RDMA",
	) with input as examples.bad_pytorchjob
}

test_those_of_the_other_library_are_found_beside_efa if {
	check.deny == found(
		"/spec/template/spec/containers/0/env/0",
		"container train",
		"RDMAV_FORK_SAFE",
	) with input as examples.bad_job
}

test_one_is_enough if {
	check.deny == found(
		"/spec/workerGroupSpecs/0/template/spec/containers/0/env/0",
		"container ray-worker of gpu",
		"FI_EFA_USE_DEVICE_RDMA",
	) with input as examples.bad_raycluster
}

test_what_today_s_stacks_read_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_on_infiniband_the_other_library_has_its_say if {
	check.deny == set() with input as examples.good_job
}

test_ranks_that_do_not_see_it_are_left_alone if {
	unseen := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false}])
	check.deny == set() with input as unseen
}
