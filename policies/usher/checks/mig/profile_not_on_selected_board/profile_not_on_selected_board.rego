# METADATA
# title: The selected board has the profile
# description: |
#   A node selector that names a GPU by the label nvidia.com/gpu.product, and a MIG profile that this GPU does not have,
#   contradict each other: no node has both, and the pod waits for ever. It happens when a manifest moves to other GPUs,
#   for the same part of a GPU has another name on every board.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of every board
# schemas:
#   - input: schema.input
# custom:
#   code: USH711
#   about: accelerator pods
#   severity: medium
#   why: No node has both the GPU and the slice, so the pod waits for ever.
#   closes: [S17, S7]
#   remediation: |
#     Ask for a profile of the selected GPU, or select nodes whose GPUs have the profile.
package usher.checks.mig.profile_not_on_selected_board

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some slice in mig.slices
	selected := slice.podSet.mig.selectedBoard
	count(slice.profile.boards) > 0
	not selected in slice.profile.boards
	having := concat(", ", slice.profile.boards)

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for the MIG profile {slice.profile.name}, which the selected GPU, {selected}, does not have",
		"remedy": $"ask for a profile of {selected}, or select nodes with a GPU that has this one: {having}",
	}
}
