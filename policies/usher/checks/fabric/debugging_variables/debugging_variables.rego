# METADATA
# title: Ranks do without variables for debugging
# description: |
#   NCCL and CUDA have switches that take a fast way out of use, or make every call wait, so that an error can be found:
#   NCCL_P2P_DISABLE sends through the memory of the node what GPUs would exchange over NVLink, and CUDA_LAUNCH_BLOCKING
#   lets the CPU wait for every kernel. NVIDIA says of them that they are not for production: a later version may behave
#   otherwise. Machines whose GPUs cannot reach each other are the one place where NCCL_P2P_DISABLE belongs; take it off
#   the list there. Notebooks are left alone.
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
#   why: GPUs wait for each other, or for the CPU, for the whole of the job.
#   closes: [S29]
#   parameters:
#     variables:
#       default:
#         [NCCL_P2P_DISABLE, NCCL_P2P_DIRECT_DISABLE, NCCL_SHM_DISABLE, NCCL_CHECK_POINTERS, CUDA_LAUNCH_BLOCKING]
#       description: Variables of NCCL_, CUDA_, UCX_ or FI_ that are not switched on.
#   remediation: Remove the variable, or where the machines need it, take it off the list for their namespaces.
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
	not value in {"", "0"}

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} {text.excerpt(value)} is for debugging, and may slow every step",
		"remedy": $"remove {name}",
	}
}
