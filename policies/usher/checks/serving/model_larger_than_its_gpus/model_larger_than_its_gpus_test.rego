package usher.checks.serving.model_larger_than_its_gpus_test

import data.examples.checks.serving.model_larger_than_its_gpus as examples
import data.usher.checks.serving.model_larger_than_its_gpus as check

found(container, what) := {{
	"path": "/spec/template/spec/containers/0",
	"message": $"the weights of the model of container {container} ({what}, so it never loads",
	"remedy": "use more GPUs with a larger tensor parallel size, boards with more memory, or a quantised model",
	"assumption": "usher assumes that the model is as large as its name says",
}}

test_a_model_larger_than_its_gpu_is_found if {
	check.deny == found("vllm", "70B with 16 bits) need about 140 GB, but it uses 1 GPU of 80 GB each") with input as examples.bad_one_gpu
}

test_the_gpus_of_the_parallel_sizes_count if {
	check.deny == found("sglang", "32B with 16 bits) need about 64 GB, but it uses 2 GPUs of 24 GB each") with input as examples.bad_two_small_gpus
}

test_a_quantised_model_may_be_too_large if {
	check.deny == found("vllm", "405B with 8 bits) need about 405 GB, but it uses 4 GPUs of 80 GB each") with input as examples.bad_eight_bits
}

test_models_that_fit_are_good if {
	check.deny == set() with input as examples.good_quantised
	check.deny == set() with input as examples.good_four_gpus
}

test_without_a_board_or_a_size_nothing_is_said if {
	check.deny == set() with input as examples.good_any_board
	check.deny == set() with input as examples.good_without_size
}

test_a_replica_of_data_parallelism_has_its_own_gpus if {
	check.deny == found("vllm", "70B with 16 bits) need about 140 GB, but it uses 1 GPU of 80 GB each") with input as examples.bad_data_parallel
}

test_a_pod_that_runs_shows_that_it_works if {
	placed := json.patch(examples.bad_one_gpu, [{"op": "add", "path": "/podSets/0/placed", "value": true}])
	check.deny == set() with input as placed
}

with_parallelism(key, value) := json.patch(examples.bad_one_gpu, [{"op": "replace", "path": $"/podSets/0/containers/0/parallelism/{key}", "value": value}])

test_servers_that_span_pods_are_left_alone if {
	check.deny == set() with input as with_parallelism("nodes", 2)
	check.deny == set() with input as with_parallelism("ownPod", true)
}

test_the_cache_of_the_longest_request_counts if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0",
		"message": "container vllm serves requests of 131072 tokens, whose cache needs about 17 GB beside 16 GB of weights, but it uses 1 GPU of 24 GB each, so vLLM does not start",
		"remedy": "set --max-model-len to fewer tokens, or use more or larger GPUs",
		"assumption": "usher assumes that the model is as large as its name says",
	}} with input as examples.bad_long_context
	check.deny == set() with input as examples.good_short_context
}

of_part(what) := {{
	"path": "/spec/template/spec/containers/0",
	"message": $"the weights{what}, so it never loads",
	"remedy": "ask for a larger part of a GPU or a whole one, or serve a smaller or quantised model",
	"assumption": "usher assumes that the model is as large as its name says",
}}

test_a_part_of_a_gpu_has_its_own_memory if {
	check.deny == of_part(" and the cache of 32768 tokens of the model of container vllm (7B with 16 bits) need about 15 GB, but it gets a MIG device of 10 GB") with input as examples.bad_mig_device
	check.deny == of_part(" of the model of container tgi (7B with 16 bits) need about 14 GB, but it gets 12000 MiB of a GPU") with input as examples.bad_share_of_memory
	check.deny == of_part(" and the cache of 32768 tokens of the model of container vllm (7B with 16 bits) need about 15 GB, but it gets a MIG device of 10 GB") with input as examples.bad_gke_partition
	check.deny == set() with input as examples.good_mig_device
}
