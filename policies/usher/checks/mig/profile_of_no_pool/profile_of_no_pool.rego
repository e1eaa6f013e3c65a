# METADATA
# title: Slices are ones that a declared pool offers
# description: |
#   Where the pools of usher.yaml say which MIG profiles their nodes offer, a profile that is not among them has no node
#   to go to, although some board has it: nodes are divided in advance, and nobody divides them anew for a pod. Where no
#   pool offers any slices, nothing is known of them.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA on how nodes are divided
# schemas:
#   - input: schema.input
# custom:
#   code: USH702
#   about: accelerator pods
#   severity: medium
#   why: No node is divided like that, so the pod waits for ever.
#   closes: [S17]
#   remediation: |
#     Ask for a profile that a pool offers, have nodes divided into the one that is asked for, or declare their pool.
package usher.checks.mig.profile_of_no_pool

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some slice in mig.slices
	slice.profile.known
	offered := slice.podSet.mig.offered
	not slice.name in offered

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for {slice.name}, which no pool of usher.yaml offers",
		"remedy": $"ask for what a pool offers: {concat(", ", offered)}",
	}
}
