package usher.checks.serving.shared_memory_of_a_model_test

import data.examples.checks.serving.shared_memory_of_a_model as examples
import data.usher.checks.serving.shared_memory_of_a_model as check

found(container, name, size) := {{
	"path": $"{container}/volumeMounts",
	"message": $"{name} splits its model with tensor parallel size {size}, but has only the default of 64 MiB of shared memory, too little for its processes",
	"remedy": "mount an emptyDir of medium Memory at /dev/shm, sized below the memory limit",
}}

test_a_server_with_tensor_parallelism_and_no_mount_is_found if {
	check.deny == found("/spec/template/spec/containers/0", "container vllm", 4) with input as examples.bad_deployment
	check.deny == found("/spec/template/spec/containers/0", "container sglang", 2) with input as examples.bad_statefulset
}

test_each_pod_of_a_group_needs_a_mount if {
	check.deny == found("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0", "container vllm of worker", 8) with input as examples.bad_leader_worker_set
}

test_a_mount_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_one_gpu_needs_none if {
	check.deny == set() with input as examples.good_pod
}

test_a_runtime_may_have_the_mount if {
	check.deny == set() with input as examples.good_llm_inference_service
}

test_a_pod_that_runs_shows_that_it_works if {
	placed := json.patch(examples.bad_deployment, [{"op": "add", "path": "/podSets/0/placed", "value": true}])
	check.deny == set() with input as placed
}

test_a_rank_that_is_alone_in_its_pod_shares_nothing if {
	one := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/podSets/0/containers/0/accelerators/nvidia.com~1gpu", "value": {"limits": {"text": "1", "value": 1}}}])
	check.deny == set() with input as one
}

test_a_mount_as_small_as_the_default_is_found if {
	check.deny == {{"path": "/spec/template/spec/volumes/0/emptyDir/sizeLimit", "message": "container vllm splits its model with tensor parallel size 4, but has 64Mi of shared memory, too little for its processes", "remedy": "raise sizeLimit to some GiB, below the memory limit"}} with input as examples.bad_size
	larger := json.patch(examples.bad_size, [{"op": "replace", "path": "/podSets/0/volumes/0/emptyDir/sizeLimit/value", "value": 1073741824}])
	check.deny == set() with input as larger
}
