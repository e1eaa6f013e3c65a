# METADATA
# title: Tensor parallel servers on shares of GPUs switch off their own all-reduce
# description: |
#   With a tensor parallel size above 1, vLLM and SGLang exchange data between GPUs by a kernel of their own, which
#   opens memory of another process (CUDA IPC). HAMi and Volcano give shares of GPUs by a library that stands between
#   program and driver. With it CUDA IPC fails with `invalid argument`, and the server ends at its start. With
#   --disable-custom-all-reduce the server uses NCCL instead. The check skips containers that switch the library off
#   with CUDA_DISABLE_CONTROL.
# scope: package
# related_resources:
#   - ref: https://github.com/Project-HAMi/HAMi/pull/1947
#     description: HAMi's example for tensor parallelism on shares
#   - ref: https://docs.vllm.ai/en/latest/cli/serve/
#     description: vLLM on its flags
# schemas:
#   - input: schema.input
# custom:
#   code: USH808
#   about: accelerator pods
#   severity: medium
#   why: The server ends with an error while it starts.
#   remediation: |
#     Add --disable-custom-all-reduce to the arguments of the server, or ask for whole GPUs.
package usher.checks.sharing.custom_all_reduce_on_shares

import data.usher.lib.workload

_libraries := {
	"nvidia.com/gpucores": "HAMi",
	"nvidia.com/gpumem": "HAMi",
	"nvidia.com/gpumem-percentage": "HAMi",
	"volcano.sh/vgpu-cores": "Volcano",
	"volcano.sh/vgpu-memory": "Volcano",
	"volcano.sh/vgpu-memory-percentage": "Volcano",
}

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	parallelism := container.parallelism
	parallelism.tensor > 1
	parallelism.customAllReduce
	names := {library |
		some name, _ in container.accelerators
		library := _libraries[name]
	}
	some library in names
	not _is_library_off(container)

	finding := {
		"path": parallelism.path,
		"message": $"{workload.container_name(pod_set, container)} runs {parallelism.server} with tensor parallel size {parallelism.tensor} on shares of GPUs, and its all-reduce fails under the library of {library}",
		"remedy": "add --disable-custom-all-reduce, or ask for whole GPUs",
	}
}

_is_library_off(container) if container.environment.CUDA_DISABLE_CONTROL.value in ["true", "1"]
