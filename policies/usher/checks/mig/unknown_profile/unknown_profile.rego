# METADATA
# title: Pods ask for MIG profiles that some board has
# description: |
#   The board decides which MIG profiles exist. `1g.5gb` exists on an A100 with 40 GB, but on no H100. If no board has a
#   profile, no node offers it and the pod waits forever. usher knows the boards of its release and their profiles. For
#   a newer board, usher.yaml can name the resources, under `accelerators` or under `resources` of a pool.
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
#   why: No board has this profile, so the pod waits forever.
#   closes: [S17]
#   remediation: |
#     Ask for a profile that the nodes offer. `kubectl describe nodes` lists it among the allocatable resources. If a
#     node does offer the resource, name it in usher.yaml, under `resources` of the node's pool.
package usher.checks.mig.unknown_profile

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some slice in mig.slices
	not slice.profile.known

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for the MIG profile {slice.profile.name}, but no board that usher knows has it",
		"remedy": "ask for a profile that the nodes offer, or name the resource in usher.yaml",
		"assumption": "usher assumes that it knows all boards of the cluster",
	}
}
