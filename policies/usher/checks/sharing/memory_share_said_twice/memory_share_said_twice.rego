# METADATA
# title: A container says once how much memory of a GPU it gets
# description: |
#   HAMi takes the memory of a share from nvidia.com/gpumem, in MiB, or from nvidia.com/gpumem-percentage. Where a
#   container gives both it takes the former, and the percentage counts for nothing, so that one of two readers of the
#   manifest is wrong about what the container gets.
# scope: package
# related_resources:
#   - ref: https://project-hami.io/docs/userguide/nvidia-device/specify-device-memory-usage
#     description: HAMi on the memory of a share
# schemas:
#   - input: schema.input
# custom:
#   code: USH805
#   about: accelerator pods
#   severity: low
#   why: The percentage counts for nothing, and whoever reads it is misled.
#   closes: [B43]
#   remediation: Keep one of nvidia.com/gpumem and nvidia.com/gpumem-percentage.
package usher.checks.sharing.memory_share_said_twice

import data.usher.lib.amounts
import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	percentage := amounts.effective(container.accelerators["nvidia.com/gpumem-percentage"]).value
	percentage > 0
	memory := amounts.effective(container.accelerators["nvidia.com/gpumem"]).value
	memory > 0

	finding := {
		"path": mig.path(container, "nvidia.com/gpumem-percentage"),
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of a GPU's memory and for {memory} MiB of it, of which only the latter counts",
		"remedy": "keep one of nvidia.com/gpumem and nvidia.com/gpumem-percentage",
	}
}
