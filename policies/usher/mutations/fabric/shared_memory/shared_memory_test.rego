package usher.mutations.fabric.shared_memory_test

import data.examples.mutations.fabric.shared_memory as examples
import data.usher.mutations.fabric.shared_memory as mutation

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

group := "/spec/leaderWorkerTemplate/workerTemplate"

given(at, size) := {
	"at": at,
	"field": "mount",
	"value": {
		"volume": {"name": "usher-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}},
		"mountPath": "/dev/shm",
	},
	"reason": "training needs more than the 64 MiB of shared memory that a container starts with",
}

skipped(at, reason) := {{"at": at, "reason": reason}}

limited(value) := json.patch(examples.before_pytorchjob, [{
	"op": "replace",
	"path": "/podSets/0/containers/0/resources/memory/limits/value",
	"value": value,
}])

test_a_container_with_several_gpus_gets_half_of_its_memory if {
	mutation.intents == {given(worker, "48Gi")} with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_containers_of_one_pod_share_what_the_smallest_of_them_can_bear if {
	mutation.intents == {
		given($"{group}/spec/containers/0", "1500Mi"),
		given($"{group}/spec/containers/1", "1500Mi"),
	} with input as examples.before_leaderworkerset_of_two_containers
}

test_workers_of_an_mpijob_get_it_too if {
	mutation.intents == {given("/spec/mpiReplicaSpecs/Worker/template/spec/containers/0", "48Gi")} with input as examples.before_mpijob
}

test_the_limit_of_the_pod_as_a_whole_counts_where_a_container_has_none if {
	mutation.intents == {given("/spec/template/spec/containers/0", "64Gi")} with input as examples.before_job_with_a_limit_of_its_pods
}

test_training_on_one_gpu_in_each_of_several_pods_exchanges_data_as_well if {
	several := json.remove(examples.untouched_job_of_one_gpu, ["/workload/pods/maximum"])
	mutation.intents == {given("/spec/template/spec/containers/0", "32Gi")} with input as several
}

test_the_size_is_whole_mebibytes_written_as_the_api_server_writes_them[limit] if {
	some limit, size in {
		137438953472: "64Gi",
		137438953471: "65535Mi",
		9223372036854775807: "64Gi",
		6442450944: "3Gi",
		1000000000: "476Mi",
		136314880: "65Mi",
	}
	mutation.intents == {given(worker, size)} with input as limited(limit)
}

test_no_more_than_a_container_begins_with_is_no_gain if {
	mutation.intents == set() with input as limited(136314879)
	mutation.skips == skipped(
		"/spec/pytorchReplicaSpecs/Worker/template",
		"half of its memory limit is at most 64 MiB, which every container starts with",
	) with input as limited(136314879)
}

test_without_a_memory_limit_nothing_is_given if {
	mutation.intents == set() with input as examples.untouched_job_without_memory_limit
	mutation.skips == skipped("/spec/template", "its training containers have no memory limit, so usher cannot choose a size for the volume") with input as examples.untouched_job_without_memory_limit
}

test_one_gpu_of_one_pod_has_nobody_to_exchange_data_with if {
	mutation.intents == set() with input as examples.untouched_job_of_one_gpu
	mutation.skips == skipped("/spec/template", "its containers use at most one GPU each, and the workload has only one pod") with input as examples.untouched_job_of_one_gpu
}

test_what_the_user_mounts_there_stays if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_with_a_mount
	mutation.skips == skipped(worker, "the container already has a mount at /dev/shm or above it") with input as examples.untouched_pytorchjob_with_a_mount
}

test_the_shared_memory_of_the_node_is_enough if {
	mutation.intents == set() with input as examples.untouched_jobset_on_the_node
	mutation.skips == skipped("/spec/replicatedJobs/0/template/spec/template", "its pods use the shared memory of their node") with input as examples.untouched_jobset_on_the_node
}

test_kuberay_mounts_its_own if {
	mutation.intents == set() with input as examples.untouched_rayjob
	mutation.skips == skipped("/spec/rayClusterSpec/workerGroupSpecs/0/template", "KubeRay mounts shared memory itself") with input as examples.untouched_rayjob
}

test_a_train_job_leaves_it_to_its_runtime if {
	mutation.intents == set() with input as examples.untouched_trainjob
	mutation.skips == skipped("/spec/trainer", "the runtime of a TrainJob sets its mounts") with input as examples.untouched_trainjob
}

test_a_template_that_would_not_reach_its_pods_is_left_alone if {
	fixed := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/changeable", "value": false}])
	mutation.intents == set() with input as fixed
	mutation.skips == skipped(
		"/spec/pytorchReplicaSpecs/Worker/template",
		"the runtime sets the mounts of these pods, so a change to this template would not reach them",
	) with input as fixed
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training gets shared memory") with input as examples.untouched_service
}
