# METADATA
# title: NCCL_DEBUG is not INFO or TRACE
# description: |
#   With NCCL_DEBUG at INFO every rank writes hundreds of lines about its setup. With TRACE it writes lines about every
#   call. This helps during setup or while you search for an error. Left on, it fills the logs of all ranks and hides
#   important lines. Production needs WARN, which reports errors. The check ignores notebooks, and ranks that never see
#   the variable.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug
#     description: NVIDIA on NCCL_DEBUG
# schemas:
#   - input: schema.input
# custom:
#   code: USH901
#   about: accelerator pods
#   severity: low
#   strict_only: The lines that NCCL writes at INFO cost little, and many teams keep them on purpose.
#   why: The logs of a large job are full of lines that only debugging needs.
#   closes: [S29]
#   remediation: Set NCCL_DEBUG to WARN, or remove it. Set INFO only while you search for an error.
package usher.checks.fabric.nccl_debug_left_on

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role != "interactive"
	some entry in fabric.rank_containers
	variable := entry.container.environment.NCCL_DEBUG

	# NCCL takes the word in any case.
	lower(variable.value) in ["info", "trace"]

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: NCCL_DEBUG {text.excerpt(variable.value)} makes every rank write log lines that only debugging needs",
		"remedy": "set NCCL_DEBUG to WARN, which still reports errors",
	}
}
