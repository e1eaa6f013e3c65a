# METADATA
# title: A board of the pools has the MIG profile of a claim
# description: |
#   A device claim selects a MIG profile by its name, and the same part of a GPU has a different name on every board:
#   half an A100 is 3g.40gb, half an H200 3g.71gb. NVIDIA's driver for claims makes only slices that the board has. If no
#   board has the profile, no device ever matches, and the pods wait for ever. The check compares the profile with the
#   boards of the pools of usher.yaml, or of the nodes of the facts. It finds nothing if a board of them is unknown.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of every board
#   - ref: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/tree/main/demo/specs/quickstart
#     description: NVIDIA on claims that select a profile
# schemas:
#   - input: schema.input
# custom:
#   code: USH820
#   about: accelerator pods
#   severity: medium
#   why: No device ever matches the claim, and the pods wait for ever.
#   closes: [S17]
#   remediation: Select a profile of the boards that the cluster has, or let it select by memory.
package usher.checks.mig.claimed_profile_of_no_board

import data.usher.lib.workload

deny contains object.union(finding, _assumption(unmet)) if {
	some pod_set in workload.accelerator_pod_sets
	some unmet in pod_set.unmetProfiles
	request := [request | some request in pod_set.requests; request.selects == unmet.resource][0]

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} claims a slice of the MIG profile {unmet.profile}, but {_boards(unmet)} not have it",
		"remedy": _remedy(unmet),
	}
}

_boards(unmet) := $"{unmet.boards[0]}, the only board of the pools, does" if count(unmet.boards) == 1

_boards(unmet) := $"the boards of the pools ({concat(", ", unmet.boards)}) do" if count(unmet.boards) > 1

_remedy(unmet) := $"select a profile of these boards: {concat(", ", unmet.instead)}" if {
	count(unmet.instead) > 0
} else := $"add nodes with a board that has this profile: {concat(", ", unmet.having)}" if {
	count(unmet.having) > 0
} else := "select a profile of a board of the pools"

_assumption(unmet) := {} if unmet.declared

_assumption(unmet) := {"assumption": "usher assumes that no autoscaler adds nodes with other boards"} if {
	not unmet.declared
}
