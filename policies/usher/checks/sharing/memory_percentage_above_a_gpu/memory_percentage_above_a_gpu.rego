# METADATA
# title: A share of a GPU has at most 100 % of its memory
# description: |
#   nvidia.com/gpumem-percentage tells HAMi how much memory of each GPU a share gets. HAMi's webhook refuses a pod that
#   asks for more than 100. Older versions treated the value as 100, or found no GPU with so much memory.
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
#   why: HAMi refuses all pods of this workload.
#   closes: [S2]
#   remediation: |
#     Set nvidia.com/gpumem-percentage to a percentage of one GPU. Set nvidia.com/gpu to the number of GPUs from which
#     the container gets a share.
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
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of the memory of a GPU, but a share has at most 100 %",
		"remedy": "ask for at most 100 % of each GPU, and set nvidia.com/gpu to get more GPUs",
	}
}
