# METADATA
# title: Containers do not set variables that only old EFA stacks need
# description: |
#   libfabric 1.18 and version 1.7 of NCCL's plugin for EFA, and later versions, need no variables.
#   FI_EFA_USE_DEVICE_RDMA=1 and FI_EFA_FORK_SAFE=1 have no effect there. FI_EFA_ENABLE_SHM_TRANSFER=1 has always been
#   the default. People copy these variables from manifest to manifest, although nothing needs them. RDMAV_* belong to
#   another library. Beside EFA, RDMAV_FORK_SAFE breaks what FI_EFA_FORK_SAFE was meant to repair. Images with an older
#   stack still need some of these variables.
# scope: package
# related_resources:
#   - ref: https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md
#     description: AWS on the variables of EFA
# schemas:
#   - input: schema.input
# custom:
#   code: USH914
#   about: accelerator pods
#   severity: low
#   why: Variables without effect hide the variables that have an effect.
#   closes: [S29]
#   remediation: Remove the variables, unless the image has libfabric before 1.18 or aws-ofi-nccl before 1.7.
package usher.checks.fabric.efa_variables_of_old_stacks

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

_switches := ["FI_EFA_USE_DEVICE_RDMA", "FI_EFA_FORK_SAFE", "FI_EFA_ENABLE_SHM_TRANSFER"]

deny contains finding if {
	some entry in fabric.rank_containers
	names := [name |
		some name, variable in entry.container.environment
		_is_of_old_stacks(name, variable, entry.container)
	]
	first := entry.container.environment[min(names)]

	finding := {
		"path": first.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} sets variables that only old EFA stacks need: {text.names(names, ", ")}",
		"remedy": "remove them if the image has libfabric 1.18 and aws-ofi-nccl 1.7 or later",
	}
}

_is_of_old_stacks(name, variable, _) if {
	name in _switches
	variable.value == "1"
}

_is_of_old_stacks(name, _, container) if {
	startswith(name, "RDMAV_")
	container.resources["vpc.amazonaws.com/efa"]
}
