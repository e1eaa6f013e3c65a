# METADATA
# title: A share is no more than a GPU
# description: |
#   HAMi measures the memory of a share by nvidia.com/gpumem-percentage, for each GPU that it is taken from. More than
#   100 is no share: its webhook refuses the pod, and older versions took it for 100 or found no GPU with so much
#   memory.
# scope: package
# related_resources:
#   - ref: https://project-hami.io/docs/userguide/nvidia-device/specify-device-memory-usage
#     description: HAMi on the memory of a share
# schemas:
#   - input: schema.input
# custom:
#   code: USH807
#   about: accelerator pods
#   severity: high
#   why: HAMi refuses every pod of it.
#   closes: [S2]
#   remediation: |
#     Say the percentage of one GPU; how many GPUs there are shares of, nvidia.com/gpu says.
package usher.checks.sharing.memory_percentage_above_a_gpu

import data.usher.lib.amounts
import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	percentage := amounts.effective(container.accelerators["nvidia.com/gpumem-percentage"]).value
	percentage > 100

	finding := {
		"path": mig.path(container, "nvidia.com/gpumem-percentage"),
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of a GPU's memory",
		"remedy": "ask for 100 % of each GPU at most, and for more GPUs by nvidia.com/gpu",
	}
}
