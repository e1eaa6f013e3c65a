package usher.checks.serving.gpus_beside_the_model_test

import data.examples.checks.serving.gpus_beside_the_model as examples
import data.usher.checks.serving.gpus_beside_the_model as check

found(place, server, sizes, needed, existing) := {{
	"path": $"/spec/template/spec/containers/0/{place}",
	"message": $"container server runs {server} with {sizes} and needs {needed}, but has {existing}, and the others idle",
	"remedy": $"ask for {needed}, or set the tensor parallel size to the GPUs of the container",
}}

test_the_tensor_parallel_size_counts if {
	check.deny == found("args/2", "vLLM", "tensor parallel size 2", "2 GPUs", 8) with input as examples.bad_vllm
}

test_without_a_size_the_server_uses_one_gpu if {
	check.deny == found("command", "vLLM", "tensor parallel size 1", "1 GPU", 8) with input as examples.bad_without_a_size
}

test_sglang_names_its_flags_differently if {
	check.deny == found("command/5", "SGLang", "tensor parallel size 4", "4 GPUs", 8) with input as examples.bad_sglang
}

test_equal_numbers_are_good if {
	check.deny == set() with input as examples.good_vllm
}

test_one_gpu_needs_no_size if {
	check.deny == set() with input as examples.good_one_gpu
}

test_pods_of_a_controller_were_judged_at_their_owner if {
	check.deny == set() with input as object.union(examples.bad_vllm, {"workload": {"owned": true}})
}

test_groups_of_pods_share_a_model if {
	check.deny == set() with input as object.union(examples.bad_vllm, {"workload": {"group": "leaderworkerset.x-k8s.io"}})
}

test_variables_of_a_nim_count if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0/value",
		"message": "container nim runs NIM with tensor parallel size 2 and needs 2 GPUs, but has 8, and the others idle",
		"remedy": "ask for 2 GPUs, or set the tensor parallel size to the GPUs of the container",
	}} with input as examples.bad_nim
}

test_a_server_that_spans_a_group_uses_all_its_gpus if {
	check.deny == {{
		"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0/args/0",
		"message": "container leader of leader runs vLLM with tensor parallel size 4, pipeline parallel size 2 and needs 8 GPUs, but its group has 16, and the others idle",
		"remedy": "ask for 8 GPUs in the group, or change a parallel size",
	}} with input as examples.bad_leader_worker_set
	check.deny == set() with input as examples.good_leader_worker_set
}

test_a_server_that_fits_into_the_leader_may_leave_the_workers_to_others if {
	check.deny == set() with input as examples.good_leader_alone
}

test_each_pod_of_an_llm_service_uses_its_gpus if {
	some finding in check.deny with input as examples.bad_llm_service
	startswith(finding.message, "container main of leader runs KServe's preset of vLLM with tensor parallel size 1, data parallel size 4 and needs 4 GPUs")
	count(check.deny) == 1 with input as examples.bad_llm_service
}

test_shares_of_time_are_not_whole_gpus if {
	check.deny == set() with input as examples.good_shares
}
