# METADATA
# title: A server of one pod gets its tensor size
# description: |
#   An LLMInferenceService without workers runs its server in one pod. Versions of KServe before July 2026 accept
#   `parallelism.tensor` there, but start the server without it: it uses one GPU, and the others idle. Nothing in the status
#   says so.
#
#   The check finds a tensor size above 1 in services without workers whose containers set neither a command nor the
#   variable VLLM_ADDITIONAL_ARGS.
# scope: package
# related_resources:
#   - ref: https://github.com/kserve/kserve/issues/5773
#     description: The report
#   - ref: https://github.com/kserve/kserve/pull/5782
#     description: The change of KServe
# schemas:
#   - input: schema.input
# custom:
#   code: USH1048
#   about: accelerator pods
#   severity: low
#   why: The service holds several GPUs and uses one.
#   remediation: |
#     Set VLLM_ADDITIONAL_ARGS of the container main to --tensor-parallel-size=N, which every version reads. Or make sure
#     that the version of KServe has the change.
package usher.checks.serving.tensor_size_that_kserve_drops

import data.usher.lib.parallelism

deny contains finding if {
	some entry in parallelism.servers
	parallelism.of_one_pod(entry)
	size := entry.parallelism.tensor
	size > 1

	finding := {
		"path": entry.parallelism.path,
		"message": $"KServe before July 2026 starts the server of one pod without the tensor size {size}, so it uses 1 GPU of {entry.gpus}",
		"remedy": $"set the variable VLLM_ADDITIONAL_ARGS of the container main to --tensor-parallel-size={size}, or use a KServe with kserve/kserve#5782",
	}
}
