package usher.checks.serving.model_needs_more_gpus_test

import data.examples.checks.serving.model_needs_more_gpus as examples
import data.usher.checks.serving.model_needs_more_gpus as check

found(place, server, sizes, needed, existing) := {{
	"path": $"/spec/template/spec/containers/0/{place}",
	"message": $"container server runs {server} with {sizes} and needs {needed}, but has {existing}, so it never starts",
	"remedy": $"ask for {needed}, or {_otherwise(sizes)}",
}}

_otherwise(sizes) := "set the tensor parallel size to the GPUs of the container" if not regex.match(`,|nodes`, sizes)

_otherwise(sizes) := "change a parallel size" if regex.match(`,|nodes`, sizes)

test_the_tensor_parallel_size_counts if {
	check.deny == found("args/2", "vLLM", "tensor parallel size 8", "8 GPUs", 4) with input as examples.bad_vllm
}

test_sglang_names_its_flags_differently if {
	check.deny == found("command/5", "SGLang", "tensor parallel size 4, data parallel size 2", "8 GPUs", 4) with input as examples.bad_sglang
}

test_text_generation_inference_calls_them_shards if {
	check.deny == found("args/2", "Text Generation Inference", "tensor parallel size 4", "4 GPUs", 2) with input as examples.bad_tgi
}

test_a_server_in_a_script_counts if {
	check.deny == found("command/2", "TensorRT-LLM", "tensor parallel size 4, pipeline parallel size 2", "8 GPUs", 4) with input as examples.bad_script
}

test_equal_numbers_are_good if {
	check.deny == set() with input as examples.good_vllm
}

test_a_server_of_several_pods_is_skipped if {
	check.deny == set() with input as examples.good_of_a_group
}

test_pods_of_a_controller_were_judged_at_their_owner if {
	check.deny == set() with input as object.union(examples.bad_vllm, {"workload": {"owned": true}})
}

test_variables_and_the_profile_of_a_nim_count if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0/value",
		"message": "container nim runs NIM with tensor parallel size 4 and needs 4 GPUs, but has 2, so it never starts",
		"remedy": "ask for 4 GPUs, or set the tensor parallel size to the GPUs of the container",
	}} with input as examples.bad_nim
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0/value",
		"message": "container nim runs NIM with tensor parallel size 4, pipeline parallel size 2 and needs 8 GPUs, but has 4, so it never starts",
		"remedy": "ask for 8 GPUs, or change a parallel size",
	}} with input as examples.bad_nim_profile
}

test_the_pods_of_a_leader_worker_set_share_a_model if {
	check.deny == {{
		"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0/args/0",
		"message": "container leader of leader runs vLLM with tensor parallel size 8, pipeline parallel size 4 and needs 32 GPUs, but its group has 16, so it never starts",
		"remedy": "ask for 32 GPUs in the group, or change a parallel size",
	}} with input as examples.bad_leader_worker_set
	check.deny == set() with input as examples.good_leader_worker_set
}

test_groups_of_pods_share_a_model if {
	check.deny == set() with input as object.union(examples.bad_vllm, {"workload": {"group": "leaderworkerset.x-k8s.io"}})
}

test_each_pod_of_an_llm_service_has_the_gpus_of_its_parallelism if {
	check.deny == {{
		"path": "/spec/parallelism/tensor",
		"message": "container main of worker runs KServe's preset of vLLM with tensor parallel size 1, data parallel size 8 and needs 8 GPUs, but has 4, so it never starts",
		"remedy": "ask for 8 GPUs, or change a parallel size",
	}} with input as examples.bad_llm_service
	check.deny == set() with input as examples.good_llm_service
}

test_the_local_size_of_data_parallelism_counts_in_any_group if {
	check.deny == {{
		"path": "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/command/2",
		"message": "container vllm of worker runs vLLM with tensor parallel size 1, local data parallel size 8 and needs 8 GPUs, but has 4, so it never starts",
		"remedy": "ask for 8 GPUs, or change a parallel size",
	}} with input as examples.bad_local_size
	check.deny == set() with input as examples.good_local_size
}

test_a_pod_of_several_nodes_needs_its_part_of_the_ranks if {
	check.deny == found("command/5", "SGLang", "tensor parallel size 16 on 2 nodes", "8 GPUs", 4) with input as examples.bad_nodes
}

test_shares_of_hami_count_as_devices if {
	check.deny == found("args/2", "vLLM", "tensor parallel size 2", "2 GPUs", 1) with input as examples.bad_shares
}
