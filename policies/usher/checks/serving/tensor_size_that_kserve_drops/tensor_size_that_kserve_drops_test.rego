package usher.checks.serving.tensor_size_that_kserve_drops_test

import data.examples.checks.serving.tensor_size_that_kserve_drops as examples
import data.usher.checks.serving.tensor_size_that_kserve_drops as check

found(path, size) := {{
	"path": path,
	"message": $"KServe before July 2026 starts the server of one pod without the tensor size {size}, so it uses 1 GPU of {size}",
	"remedy": $"set the variable VLLM_ADDITIONAL_ARGS of the container main to --tensor-parallel-size={size}, or use a KServe with kserve/kserve#5782",
}}

test_a_tensor_size_without_workers_is_found if {
	check.deny == found("/spec/parallelism/tensor", 2) with input as examples.bad_service
	check.deny == found("/spec/prefill/parallelism/tensor", 4) with input as examples.bad_prefill
	check.deny == found("/spec/parallelism/tensor", 8) with input as examples.bad_large_service
}

test_the_variable_reaches_every_version if {
	check.deny == set() with input as examples.good_variable
}

test_groups_of_pods_get_the_size if {
	check.deny == set() with input as examples.good_workers
}

test_one_gpu_needs_no_size if {
	check.deny == set() with input as examples.good_one_gpu
}
