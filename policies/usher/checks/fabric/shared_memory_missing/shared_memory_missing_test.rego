package usher.checks.fabric.shared_memory_missing_test

import data.examples.checks.fabric.shared_memory_missing as examples
import data.usher.checks.fabric.shared_memory_missing as check

found(container, name, gpus) := {{
	"path": $"{container}/volumeMounts",
	"message": $"{name} trains on {gpus} GPUs with the default of 64 MiB of shared memory, too little for its processes",
	"remedy": "mount an emptyDir of medium Memory at /dev/shm, sized below the memory limit",
}}

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

test_training_on_several_gpus_without_a_mount_is_found if {
	check.deny == found(worker, "container pytorch of Worker", 8) with input as examples.bad_pytorchjob
}

test_two_are_several_though_only_requested if {
	check.deny == found(
		"/spec/mpiReplicaSpecs/Worker/template/spec/containers/0",
		"container worker of Worker",
		2,
	) with input as examples.bad_mpijob
}

test_a_mount_at_another_path_does_not_count if {
	check.deny == found(
		"/spec/tasks/0/template/spec/containers/0",
		"container train of worker",
		4,
	) with input as examples.bad_volcano_job
}

test_a_mount_the_memory_of_the_node_or_a_single_gpu_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_tfjob
}

test_without_these_it_is_found if {
	own := json.remove(examples.good_tfjob, ["/podSets/0/hostIPC"])
	check.deny == found(
		"/spec/tfReplicaSpecs/Worker/template/spec/containers/0",
		"container tensorflow of Worker",
		8,
	) with input as object.union(own, {"workload": {"kind": "PyTorchJob"}})
}

test_frameworks_with_one_process_for_all_gpus_need_none if {
	own := json.remove(examples.good_tfjob, ["/podSets/0/hostIPC"])
	check.deny == set() with input as own
	check.deny == set() with input as object.union(own, {"workload": {"kind": "JAXJob"}})
}

test_kuberay_mounts_its_own if {
	check.deny == set() with input as examples.good_rayjob
}

test_the_mounts_of_a_trainjob_are_its_runtimes if {
	check.deny == set() with input as examples.good_trainjob
}

test_what_does_not_train_is_left_alone if {
	check.deny == set() with input as examples.good_deployment
}

test_only_app_containers_train if {
	init := json.patch(examples.bad_pytorchjob, [
		{"op": "replace", "path": "/podSets/0/containers/0/type", "value": "init container"},
	])
	check.deny == set() with input as init
}

test_other_accelerators_are_no_gpus_unless_usher_yaml_says_so if {
	tpus := json.patch(examples.bad_pytorchjob, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/accelerators",
		"value": {"example.com/gpu": {"limits": {"text": "4", "value": 4, "milli": 4000, "whole": true}}},
	}])
	check.deny == set() with input as tpus
	site := {"site": {"parameters": {"fabric/shared_memory_missing": {"resources": ["example.com/gpu"]}}}}
	check.deny == found(worker, "container pytorch of Worker", 4) with input as object.union(tpus, site)
}

test_a_claim_says_nothing_of_its_number if {
	claimed := json.patch(examples.bad_pytorchjob, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/accelerators",
		"value": {"nvidia.com/gpu": {}},
	}])
	check.deny == set() with input as claimed
}
