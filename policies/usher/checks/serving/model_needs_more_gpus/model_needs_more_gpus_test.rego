package usher.checks.serving.model_needs_more_gpus_test

import data.examples.checks.serving.model_needs_more_gpus as examples
import data.usher.checks.serving.model_needs_more_gpus as check

found(place, server, sizes, needed, existing) := {{
	"path": $"/spec/template/spec/containers/0/{place}",
	"message": $"container server runs {server} with {sizes} and needs {needed}, but has {existing}, so it never starts",
	"remedy": $"ask for {needed}, or set the tensor parallel size to the GPUs of the container",
}}

test_the_tensor_parallel_size_counts if {
	check.deny == found("args/2", "vLLM", "tensor parallel size 8", "8 GPUs", 4) with input as examples.bad_vllm
}

test_sglang_names_its_flags_differently if {
	check.deny == found("command/5", "SGLang", "tensor parallel size 4, data parallel size 2", "8 GPUs", 4) with input as examples.bad_sglang
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

test_groups_of_pods_share_a_model if {
	check.deny == set() with input as object.union(examples.bad_vllm, {"workload": {"group": "leaderworkerset.x-k8s.io"}})
}
