# METADATA
# title: NCCL does not log what only a search for errors needs
# description: |
#   With NCCL_DEBUG at INFO every rank writes hundreds of lines about its setup, with TRACE lines about every call. That is
#   for the day on which something is brought up or goes wrong: left on, it fills the logs of all ranks and hides what
#   matters in them. WARN, which reports errors, is what production wants. Notebooks are left alone, and so are ranks
#   that never see the variable.
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
#   why: The logs of a large job drown in lines that nobody reads.
#   closes: [S29]
#   remediation: Set NCCL_DEBUG to WARN, or remove it; set INFO for as long as you search for an error.
package usher.checks.fabric.nccl_debug_left_on

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role != "interactive"
	some entry in fabric.rank_containers
	variable := entry.container.environment.NCCL_DEBUG

	# NCCL takes the word in any case.
	lower(variable.value) in {"info", "trace"}

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: with NCCL_DEBUG {text.excerpt(variable.value)} every rank logs what only a search for errors needs",
		"remedy": "set NCCL_DEBUG to WARN, which still reports errors",
	}
}
