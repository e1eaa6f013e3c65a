# METADATA
# title: The slices of one pod are profiles of one board
# description: |
#   All devices of a pod come from one node, and the GPUs of a node are hardly ever of different boards. A pod that asks
#   for profiles which no single board has, such as the smallest slices of two of them, finds no node, although every
#   profile is offered somewhere.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of every board
# schemas:
#   - input: schema.input
# custom:
#   code: USH710
#   about: accelerator pods
#   severity: medium
#   why: Each slice is offered somewhere, but all of them together nowhere.
#   closes: [S17]
#   remediation: |
#     Ask for profiles of one board in all containers of the pod, or give each container a pod of its own.
package usher.checks.mig.profiles_of_several_boards

import data.usher.lib.mig

deny contains finding if {
	some pod_set in input.podSets
	count(pod_set.mig.boards) == 0
	own := [profile |
		some profile in pod_set.mig.profiles
		not profile.shared
	]
	every profile in own {
		count(profile.boards) > 0
	}
	names := concat(" and ", sort([profile.name | some profile in own]))

	finding := {
		"path": _path(pod_set),
		"message": $"{mig.of_one_pod(pod_set)} are {names}, which no single board has",
		"remedy": "ask for profiles of one board in all containers of the pod",
		"assumption": "all GPUs of a node are of one board",
	}
}

_path(pod_set) := [request.path |
	some request in pod_set.requests
	pod_set.mig.profiles[request.name]
][0]
