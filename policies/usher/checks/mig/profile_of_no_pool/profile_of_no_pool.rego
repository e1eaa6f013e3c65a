# METADATA
# title: Pods ask for MIG slices that a declared pool offers
# description: |
#   The pools of usher.yaml can say which MIG profiles their nodes offer. A pod with any other profile finds no node,
#   even if some board has the profile. An administrator divides the GPUs of a node in advance, and nothing divides them
#   again for a pod. The check does nothing while no pool offers slices.
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
#   why: No node offers this profile, so the pod waits forever.
#   closes: [S17]
#   remediation: |
#     Ask for a profile that a pool offers. Or have nodes divided into the profile that you need, or declare their pool
#     in usher.yaml.
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
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for {slice.name}, but no pool of usher.yaml offers it",
		"remedy": $"ask for a resource that a pool offers: {concat(", ", offered)}",
	}
}
