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
		"half of its memory is at most 64 MiB, which every container starts with",
	) with input as limited(136314879)
}

test_without_a_memory_limit_nothing_is_given if {
	mutation.intents == set() with input as examples.untouched_job_without_memory_limit
	mutation.skips == skipped("/spec/template", "its containers have neither a memory limit nor a memory request, so usher cannot choose a size; set sharedMemory.fallback in usher.yaml") with input as examples.untouched_job_without_memory_limit
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
	mutation.skips == skipped("", "the role of the workload is service, which sharedMemory.roles of usher.yaml does not list") with input as examples.untouched_service
}

job := "/spec/template/spec/containers/0"

configured(document, settings) := json.patch(document, [{
	"op": "replace",
	"path": "/site/sharedMemory",
	"value": object.union({"roles": ["training"]}, settings),
}])

test_without_a_limit_half_of_the_request_is_given if {
	mutation.intents == {given(job, "16Gi")} with input as examples.before_job_with_a_memory_request
}

test_the_request_of_the_pod_as_a_whole_counts_where_a_container_has_none if {
	whole := json.patch(examples.untouched_job_without_memory_limit, [{
		"op": "add",
		"path": "/podSets/0/podRequests",
		"value": {"memory": {"value": 8589934592}},
	}])
	mutation.intents == {given(job, "4Gi")} with input as whole
}

test_a_configured_size_is_bounded_by_half_of_the_limit_alone if {
	mutation.intents == {given(worker, "8Gi")} with input as configured(examples.before_pytorchjob, {"size": 8192})
	mutation.intents == {given(worker, "48Gi")} with input as configured(examples.before_pytorchjob, {"size": 131072})
	requesting := configured(examples.before_job_with_a_memory_request, {"size": 131072})
	mutation.intents == {given(job, "128Gi")} with input as requesting
}

test_a_fallback_is_for_containers_that_say_nothing_of_memory if {
	unbounded := configured(examples.untouched_job_without_memory_limit, {"fallback": 16384})
	mutation.intents == {given(job, "16Gi")} with input as unbounded
	mutation.skips == set() with input as unbounded
	mutation.intents == {given(worker, "48Gi")} with input as configured(examples.before_pytorchjob, {"fallback": 16384})
}

of_role(intent, what) := object.union(intent, {"reason": $"{what} needs more than the 64 MiB of shared memory that a container starts with"})

serving := $"{group}/spec/containers/0"

test_a_model_that_spans_pods_gets_it_with_training if {
	mutation.intents == {of_role(given(serving, "32Gi"), "a model that spans pods")} with input as examples.before_leaderworkerset_that_serves
	alone := json.patch(examples.before_leaderworkerset_that_serves, [{"op": "replace", "path": "/workload/gang/minimum", "value": 1}])
	mutation.intents == set() with input as alone
	listed := configured(alone, {"roles": ["training", "inference"]})
	mutation.intents == {of_role(given(serving, "32Gi"), "the role inference")} with input as listed
}

test_roles_that_are_not_listed_get_none if {
	mutation.intents == set() with input as configured(examples.before_pytorchjob, {"roles": ["inference"]})
	mutation.skips == skipped(
		"",
		"the role of the workload is training, which sharedMemory.roles of usher.yaml does not list",
	) with input as configured(examples.before_pytorchjob, {"roles": ["inference"]})
}
