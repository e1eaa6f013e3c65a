# METADATA
# title: A model server asks for an accelerator
# description: |
#   vLLM, SGLang, TensorRT-LLM and Text Generation Inference run a model on an accelerator. A container that starts one
#   of them and does not ask for an accelerator is scheduled to any node. There it ends with an error, or runs on a GPU
#   that the scheduler has given to another pod. Charts do this without an error where a number of GPUs is not whole, or
#   where one of two values is missing.
#
#   The check reads the command, or the image if there is no command. It skips builds and flags for CPUs and simulators,
#   and containers that ask for a resource that usher does not know, claim devices, are privileged or choose their
#   devices by a variable. It also skips workloads with a pod that asks for an accelerator, and kinds whose operator may
#   add the request. But the leader of a LeaderWorkerSet that starts vLLM needs GPUs as its workers do: vLLM looks for
#   the driver of NVIDIA where it starts, also if Ray runs all ranks elsewhere.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/getting_started/installation/gpu/
#     description: vLLM on GPUs
#   - ref: https://github.com/vllm-project/production-stack/issues/1047
#     description: A chart that dropped the request
#   - ref: https://github.com/vllm-project/vllm/issues/27318
#     description: vLLM in a pod without GPUs, before workers with GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1042
#   about: ordinary pods
#   severity: medium
#   why: The server fails on a node without GPUs, or takes memory of a GPU that belongs to another pod.
#   remediation: |
#     Ask for the accelerators in the limits of the container. To run the model on CPUs, use a build for CPUs.
package usher.checks.serving.model_server_without_accelerator

import data.usher.lib.workload

_direct := ["", "apps", "batch", "leaderworkerset.x-k8s.io"]

deny contains finding if {
	not input.workload.owned
	input.workload.group in _direct
	not input.workload.isTemplate
	some pod_set in workload.ordinary_pod_sets
	pod_set.deviceClaims == 0
	some container in pod_set.containers
	container.modelServer
	_nothing_has_accelerators(container)
	not container.securityContext.privileged
	not _chooses_devices(container)

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} runs {container.modelServer}, which needs an accelerator, but does not ask for one",
		"remedy": "ask for accelerators in its limits, for example nvidia.com/gpu: 1, or use a build for CPUs",
	}
}

_chooses_devices(container) if {
	some name, variable in container.environment
	endswith(name, "_VISIBLE_DEVICES")
	not variable.value in ["", "none", "void"]
}

_nothing_has_accelerators(_) if count(workload.accelerator_pod_sets) == 0

# Its workers have accelerators, and the leader alone starts the server.
_nothing_has_accelerators(container) if {
	input.workload.group == "leaderworkerset.x-k8s.io"
	container.modelServer == "vLLM"
	every pod_set in workload.accelerator_pod_sets {
		pod_set.name == "worker"
	}
}
