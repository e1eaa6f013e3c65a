package usher.checks.fabric.variables_that_do_not_reach_the_ranks_test

import data.examples.checks.fabric.variables_that_do_not_reach_the_ranks as examples
import data.usher.checks.fabric.variables_that_do_not_reach_the_ranks as check

found(path, container, names) := {{
	"path": path,
	"message": $"{container} sets variables that do not reach its ranks, because sshd starts the ranks without them: {names}",
	"remedy": "pass them on with mpirun -x in the launcher, or mount those of NCCL as /etc/nccl.conf",
}}

test_what_the_workers_of_an_mpijob_set_is_found_once_for_each_container if {
	check.deny == found(
		"/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/env/2",
		"container worker of Worker",
		"CUDA_DEVICE_MAX_CONNECTIONS, FI_PROVIDER, NCCL_DEBUG",
	) with input as examples.bad_mpijob
}

test_the_plugin_of_volcano_starts_ranks_in_the_same_way if {
	check.deny == found(
		"/spec/tasks/1/template/spec/containers/0/env/0",
		"container rank of worker",
		"NCCL_IB_HCA",
	) with input as examples.bad_volcano_job
}

test_a_wrapped_job_is_one if {
	check.deny == found(
		"/spec/components/0/template/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container worker of Worker",
		"UCX_NET_DEVICES",
	) with input as examples.bad_appwrapper
}

test_the_launcher_and_what_the_container_runtime_reads_are_good if {
	check.deny == set() with input as examples.good_mpijob
}

test_what_the_launcher_passes_on_is_good if {
	check.deny == set() with input as examples.good_mpijob_with_launcher_of_variables
	partly := json.patch(examples.good_mpijob_with_launcher_of_variables, [
		{"op": "replace", "path": "/podSets/0/containers/0/passesOn", "value": ["NCCL_DEBUG"]},
	])
	check.deny == found(
		"/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/env/1",
		"container worker of Worker",
		"NCCL_TOPO_FILE",
	) with input as partly
}

test_version_1_starts_its_ranks_otherwise if {
	check.deny == set() with input as examples.good_mpijob_v1
}

test_a_helper_beside_the_ranks_sees_its_own if {
	helper := json.patch(examples.bad_mpijob, [
		{"op": "replace", "path": "/podSets/1/containers/0/asksAccelerators", "value": false},
	])
	check.deny == set() with input as helper
}

test_those_of_a_trainjob_go_to_its_launcher_too if {
	train_job := json.patch(examples.bad_mpijob, [
		{"op": "replace", "path": "/workload/group", "value": "trainer.kubeflow.org"},
	])
	check.deny == set() with input as train_job
}
