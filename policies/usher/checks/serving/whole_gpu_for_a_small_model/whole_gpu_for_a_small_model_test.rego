package usher.checks.serving.whole_gpu_for_a_small_model_test

import data.examples.checks.serving.whole_gpu_for_a_small_model as examples
import data.usher.checks.serving.whole_gpu_for_a_small_model as check

whole(path, name, memory) := {{
	"path": $"{path}/resources/limits/nvidia.com~1gpu",
	"message": $"{name} asks for a whole GPU, but with its memory limit of {memory} GiB it loads only a small model",
	"remedy": "if a part of a GPU is enough for the model, ask for a MIG slice or a share; for a large model raise the memory limit",
}}

selecting(document, selector) := json.patch(document, [{
	"op": "add",
	"path": "/podSets/0/nodeSelector",
	"value": selector,
}])

test_a_small_model_on_a_whole_gpu_is_found if {
	check.deny == whole("/spec/template/spec/containers/0", "container tei", 8) with input as examples.bad_deployment
	check.deny == whole(
		"/spec/predictor/containers/0",
		"container kserve-container of predictor",
		4,
	) with input as examples.bad_inference_service
}

test_it_is_found_on_boards_that_can_be_parted if {
	check.deny == whole(
		"/spec/template/spec/containers/0",
		"container triton",
		2,
	) with input as examples.bad_statefulset
}

test_more_memory_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_slice_is_good if {
	check.deny == set() with input as examples.good_deployment_on_a_slice
}

test_several_gpus_are_a_large_model if {
	several := json.patch(examples.bad_deployment, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/accelerators/nvidia.com~1gpu/limits/value",
		"value": 2,
	}])
	check.deny == set() with input as several
}

test_boards_without_mig_are_left_alone if {
	check.deny == set() with input as examples.good_knative_service_on_a_small_board
	check.deny == set() with input as selecting(examples.bad_deployment, {"nvidia.com/gpu.product": "Tesla-T4"})
	check.deny == set() with input as selecting(examples.bad_deployment, {"k8s.amazonaws.com/accelerator": "nvidia-tesla-v100"})
}

test_nodes_that_share_are_left_alone if {
	every selector in [
		{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-SHARED"},
		{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"},
		{"nvidia.com/gpu.sharing-strategy": "mps"},
		{"nvidia.com/mig.config": "all-1g.10gb"},
		{"cloud.google.com/gke-gpu-partition-size": "1g.10gb"},
		{"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"},
	] {
		check.deny == set() with input as selecting(examples.bad_deployment, selector)
	}
}

test_every_board_with_mig_counts if {
	every board in [
		"NVIDIA-A30", "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H200", "NVIDIA-B200", "NVIDIA-B300",
		"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
	] {
		count(check.deny) == 1 with input as selecting(examples.bad_deployment, {"nvidia.com/gpu.product": board})
	}
}

test_what_does_not_serve_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_deployment, {"workload": {"role": "interactive"}})
}

test_the_limit_can_be_another_one if {
	check.deny == set() with input as json.patch(examples.bad_deployment, [{
		"op": "add",
		"path": "/site/parameters",
		"value": {"serving/whole_gpu_for_a_small_model": {"memoryGi": 4}},
	}])
}

test_a_model_far_smaller_than_its_gpus_is_found_by_its_name if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container vllm asks for 2 GPUs of 80 GB for a model of 1.5B, whose weights need about 3 GB",
		"remedy": "ask for a MIG slice, a share, or fewer or smaller GPUs, if the server does not need them for many requests at once",
		"assumption": "usher assumes that the model is as large as its name says",
	}} with input as examples.bad_named_model
}

test_a_model_of_a_fitting_size_is_good if {
	check.deny == set() with input as examples.good_named_model
}

test_the_number_of_a_model_with_experts_is_only_a_part_of_it if {
	experts := json.patch(examples.bad_named_model, [{"op": "replace", "path": "/podSets/0/containers/0/parallelism/model/experts", "value": true}])
	check.deny == set() with input as experts
}
