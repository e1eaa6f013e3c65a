# METADATA
# title: Training has slices of a useful size
# description: |
#   The smallest slices are for notebooks and for serving small models. What trains on one waits for memory bandwidth
#   and compute, and holds up the GPU that it is a part of for as long as it takes. Training takes whole GPUs, or slices
#   of the size that usher.yaml asks for (parameters, training-on-small-slices, smallestSlices): the number before the
#   `g`. A profile that is all of a board is no small slice, whatever its number.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on what part of a GPU each profile is
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
#       description: The smallest slice on which training may run, by the number before its g.
#   remediation: |
#     Ask for a larger slice or for a whole GPU. For a short try, use a notebook or a Job that is no training.
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
		"message": $"{workload.container_name(slice.podSet, slice.container)} trains on a slice of {slice.profile.name}, smaller than the {_smallest}g that training should have",
		"remedy": $"ask for a profile of {_smallest}g or larger, or for a whole GPU",
	}
}

_smallest := parameters.mig.training_on_small_slices.smallestSlices
