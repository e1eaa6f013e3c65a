# METADATA
# title: Containers set no debugging variables of NCCL and CUDA
# description: |
#   NCCL and CUDA have debugging variables that turn off a fast path or make every call wait. NCCL_P2P_DISABLE sends
#   data through the memory of the node instead of over NVLink. CUDA_LAUNCH_BLOCKING makes the CPU wait for every
#   kernel. NVIDIA says that these variables are not for production, because a later version may treat them differently.
#   NCCL_P2P_DISABLE is right only on machines whose GPUs cannot reach each other; remove it from the list there. The
#   check ignores notebooks.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the variables of NCCL, those for debugging last
# schemas:
#   - input: schema.input
# custom:
#   code: USH912
#   about: accelerator pods
#   severity: medium
#   why: GPUs wait for each other or for the CPU during the whole job.
#   closes: [S29]
#   parameters:
#     variables:
#       default:
#         [NCCL_P2P_DISABLE, NCCL_P2P_DIRECT_DISABLE, NCCL_SHM_DISABLE, NCCL_CHECK_POINTERS, CUDA_LAUNCH_BLOCKING]
#       description: Variables of NCCL_, CUDA_, UCX_ or FI_ that must not be switched on.
#   remediation: Remove the variable. If the machines need it, take it off the list for their namespaces.
package usher.checks.fabric.debugging_variables

import data.usher.lib.fabric
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role != "interactive"
	some entry in fabric.rank_containers
	some name in parameters.fabric.debugging_variables.variables
	variable := entry.container.environment[name]
	value := variable.value
	not value in ["", "0"]

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} {text.excerpt(value)} is for debugging and can slow down every step",
		"remedy": $"remove {name}",
	}
}
