# METADATA
# title: The selected GPU has the MIG profile
# description: |
#   A node selector names a GPU by the label nvidia.com/gpu.product, but this GPU does not have the MIG profile of the
#   container. No node has both, so the pod waits forever. This happens when a manifest moves to other GPUs, because
#   the same part of a GPU has a different name on every board.
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
#   why: No node has both the GPU and the slice, so the pod waits forever.
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
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for the MIG profile {slice.profile.name}, but the selected GPU {selected} does not have it",
		"remedy": $"ask for a profile of {selected}, or select nodes with a GPU that has this profile: {having}",
	}
}
