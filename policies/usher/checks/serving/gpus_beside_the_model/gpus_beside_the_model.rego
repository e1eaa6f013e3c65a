# METADATA
# title: Model servers use all their GPUs
# description: |
#   A model server uses as many GPUs as the product of its tensor, pipeline and data parallel sizes. Without a size it
#   uses one GPU, even if its container has eight. The others idle for the whole life of the pod, and no other pod gets
#   them. The check reads the flags of vLLM, SGLang, TensorRT-LLM and Text Generation Inference in commands that are
#   plain enough, and the variables of a NIM with its sizes or the name of its profile. A server of a LeaderWorkerSet
#   spans a leader and its workers, if its flags say so or its sizes need it. The check skips other servers that span
#   several pods, MIG devices and shares, and Text Generation Inference without --num-shard, which takes all GPUs.
#
#   In an LLMInferenceService with workers each pod needs the tensor size times the data size of one pod (dataLocal) of
#   `parallelism`, because KServe's preset starts the server with them.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/serving/parallelism_scaling/
#     description: vLLM on parallelism
#   - ref: https://docs.sglang.ai/advanced_features/server_arguments.html
#     description: SGLang on the arguments of its server
# schemas:
#   - input: schema.input
# custom:
#   code: USH1041
#   about: accelerator pods
#   severity: medium
#   why: The pod holds GPUs that its server never uses.
#   closes: [S48]
#   remediation: Set the tensor parallel size to the number of GPUs, or ask for fewer GPUs.
package usher.checks.serving.gpus_beside_the_model

import data.usher.lib.amounts
import data.usher.lib.parallelism
import data.usher.lib.sharing
import data.usher.lib.workload

deny contains finding if {
	some entry in parallelism.servers
	entry.spans
	entry.parallelism.gpus < entry.gpus

	# Several shares of one GPU are for sharing/several_shares to report.
	not sharing.shared_nodes(entry.podSet)

	finding := {
		"path": entry.parallelism.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} runs {entry.parallelism.server} with {parallelism.sizes(entry)} and needs {amounts.number_of(entry.parallelism.gpus, "GPU", "GPUs")}, but {entry.has} {entry.gpus}, and the others idle",
		"remedy": parallelism.remedy(entry),
	}
}
