# METADATA
# title: Training does not run on small MIG slices
# description: |
#   The smallest slices are for notebooks and for serving small models. Training on a small slice waits for memory
#   bandwidth and compute. It occupies its part of the GPU for all that time. Train on whole GPUs, or on slices of the
#   size that usher.yaml asks for (parameters, training-on-small-slices, smallestSlices). The size is the number before
#   the `g`. A profile that takes the whole board is not small, whatever its number.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the size of each profile
# schemas:
#   - input: schema.input
# custom:
#   code: USH706
#   about: accelerator pods
#   severity: medium
#   why: Training on a small slice takes days for what a GPU does in hours.
#   closes: [S14]
#   parameters:
#     smallestSlices:
#       default: 3
#       description: The smallest slice on which training may run, given as the number before the g.
#   remediation: |
#     Ask for a larger slice or for a whole GPU. For a short test, use a notebook or a Job whose role is not training.
package usher.checks.mig.training_on_small_slices

import data.usher.lib.mig
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some slice in mig.own_slices
	slice.profile.slices < _smallest
	not slice.profile.whole

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} trains on the MIG slice {slice.profile.name}, but training needs {_smallest}g or larger",
		"remedy": $"ask for a profile of {_smallest}g or larger, or for a whole GPU",
	}
}

_smallest := parameters.mig.training_on_small_slices.smallestSlices
