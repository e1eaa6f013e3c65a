# METADATA
# title: A program can use the GPUs of its container
# description: |
#   Some programs have one image for CPUs and another for GPUs: with the first, the container holds GPUs that its
#   program does not use. An image from before CUDA 12.8 has no code for Blackwell (B200, B300, GB200, RTX PRO, RTX 50),
#   so the program ends with "no kernel image is available". usher reads the CUDA of an image from its tag (`cu124`),
#   and knows the images of vLLM and of NVIDIA by their versions. Images of CUDA itself (`nvidia/cuda`) say nothing
#   about the program.
#   Images of vLLM since 0.9 have no code for GPUs before Turing (V100, P100), because PyTorch left it out with CUDA 12.8.
#   Two options of vLLM count too: bfloat16 needs a GPU of Ampere or later, and on a share of a GPU (`nvidia.com/gpu.shared`)
#   vLLM takes 90 % of the memory of the whole GPU, unless --gpu-memory-utilization says less.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/cuda/archive/12.8.0/cuda-toolkit-release-notes/index.html
#     description: NVIDIA on CUDA 12.8, the first for Blackwell
#   - ref: https://github.com/vllm-project/vllm/releases/tag/v0.9.0
#     description: vLLM on CUDA 12.8 and Blackwell since 0.9.0
#   - ref: https://github.com/kserve/kserve/issues/4640
#     description: KServe on its two images of the Hugging Face server
# schemas:
#   - input: schema.input
# custom:
#   code: USH1538
#   about: unread keys
#   severity: medium
#   why: The GPUs idle, or the program ends when it starts.
#   closes: []
#   remediation: Use the image and the options for these GPUs.
package usher.checks.objects.image_of_other_devices

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "image"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
