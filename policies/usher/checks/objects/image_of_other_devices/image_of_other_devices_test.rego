package usher.checks.objects.image_of_other_devices_test

import data.examples.checks.objects.image_of_other_devices as examples
import data.usher.checks.objects.image_of_other_devices as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_an_image_of_vllm_from_before_blackwell_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/image",
		"Deployment selects NVIDIA-B200, but the image vllm/vllm-openai:v0.8.4 is from the time of CUDA 12.4, before Blackwell",
		"use an image with CUDA 12.8 or later",
	)} with input as examples.bad_deployment
}

test_an_older_cuda_in_a_tag_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/image",
		"Deployment selects nvidia-rtx-pro-6000, but the image lmsysorg/sglang:v0.4.6-cu124 is from CUDA 12.4, before Blackwell",
		"use an image with CUDA 12.8 or later",
	)} with input as examples.bad_deployment_by_tag
}

test_an_image_for_cpus_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/image",
		"Deployment has a container with GPUs and the image ghcr.io/ggml-org/llama.cpp:server, whose program uses only CPUs",
		"use the image for GPUs, or ask for no GPU",
	)} with input as examples.bad_deployment_for_cpus
}

test_other_images_and_boards_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment_on_hopper)
}
