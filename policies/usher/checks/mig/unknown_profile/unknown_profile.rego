# METADATA
# title: MIG profiles are ones that some board has
# description: |
#   Which profiles there are, the board decides: `1g.5gb` is one of an A100 with 40 GB, and of no H100. A profile that
#   no board has is offered by no node, and the pod waits for ever. Boards and their profiles are known to usher; of a
#   board that is newer than it, usher.yaml can name the resources, under `accelerators` or those of a pool.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of every board
# schemas:
#   - input: schema.input
# custom:
#   code: USH701
#   about: accelerator pods
#   severity: medium
#   why: A pod that asks for a profile of no board waits for ever.
#   closes: [S17]
#   remediation: |
#     Ask for a profile that the nodes offer: `kubectl describe nodes` lists them among the allocatable resources. If a
#     node does offer it, name the resource in usher.yaml, among the `resources` of its pool.
package usher.checks.mig.unknown_profile

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some slice in mig.slices
	not slice.profile.known

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for the MIG profile {slice.profile.name}, which no board has",
		"remedy": "ask for a profile that the nodes offer, or name the resource in usher.yaml",
		"assumption": "the boards of the cluster are among those that usher knows",
	}
}
