# METADATA
# title: A container sets the memory of its GPU share in one way only
# description: |
#   HAMi reads the memory of a share from nvidia.com/gpumem, in MiB, or from nvidia.com/gpumem-percentage. If a
#   container sets both, HAMi uses nvidia.com/gpumem and ignores the percentage. A reader who looks at the percentage
#   then expects the wrong amount.
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
#   why: HAMi ignores the percentage, and it misleads readers.
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
		"message": $"{workload.container_name(pod_set, container)} asks for {percentage} % of the memory of a GPU and for {memory} MiB, but HAMi ignores the percentage",
		"remedy": "keep one of nvidia.com/gpumem and nvidia.com/gpumem-percentage",
	}
}
