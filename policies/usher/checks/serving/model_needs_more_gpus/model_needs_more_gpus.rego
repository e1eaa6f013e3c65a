# METADATA
# title: Model servers have as many GPUs as their parallelism needs
# description: |
#   A model server with tensor parallel size 8 needs 8 GPUs, and starts no request before it has them. With fewer, it
#   ends with an error right after its start, again and again. The number is the product of the tensor, pipeline and
#   data parallel sizes. The check reads the flags of vLLM, SGLang, TensorRT-LLM, LMDeploy and Text Generation Inference in
#   commands that are plain enough, and the variables of a NIM with its sizes or the name of its profile. A server of a
#   LeaderWorkerSet spans a leader and its workers. The check skips other servers that span several pods, MIG devices
#   and shares.
#
#   In an LLMInferenceService with workers each pod needs the tensor size times the data size of one pod (dataLocal) of
#   `parallelism`, because KServe's preset starts the server with them. Without workers newer versions of KServe start the
#   server with the tensor size, so the check only warns.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/serving/parallelism_scaling/
#     description: vLLM on parallelism
#   - ref: https://docs.sglang.ai/advanced_features/server_arguments.html
#     description: SGLang on the arguments of its server
# schemas:
#   - input: schema.input
# custom:
#   code: USH1040
#   about: accelerator pods
#   severity: high
#   why: The server never starts, and its pod restarts forever.
#   closes: [S48]
#   remediation: Ask for as many GPUs as the product of the parallel sizes, or lower the sizes.
package usher.checks.serving.model_needs_more_gpus

import data.usher.lib.amounts
import data.usher.lib.parallelism
import data.usher.lib.workload

deny contains object.union(finding, parallelism.assumption(entry)) if {
	some entry in parallelism.servers
	entry.parallelism.gpus > entry.gpus

	finding := {
		"path": entry.parallelism.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} runs {entry.parallelism.server} with {parallelism.sizes(entry)} and needs {amounts.number_of(entry.parallelism.gpus, "GPU", "GPUs")}, but {entry.has} {entry.gpus}, so it never starts",
		"remedy": parallelism.remedy(entry),
	}
}
