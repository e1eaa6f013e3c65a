# METADATA
# title: All MIG slices of one pod are profiles of one board
# description: |
#   All devices of a pod come from one node, and the GPUs of a node are nearly always of one board. A pod finds no node
#   if no single board has all of its profiles, for example the smallest slices of two boards. Each profile alone may be
#   offered somewhere.
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
#   why: Nodes may offer each slice alone, but no node offers all of them together.
#   closes: [S17]
#   remediation: Ask for profiles of one board in all containers of the pod, or give each container its own pod.
package usher.checks.mig.profiles_of_several_boards

import data.usher.lib.mig
import data.usher.lib.text

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
	names := text.names([profile.name | some profile in own], " and ")

	finding := {
		"path": _path(pod_set),
		"message": $"{mig.of_one_pod(pod_set)} are {names}, but no single board has all of these profiles",
		"remedy": "ask for profiles of one board in all containers of the pod",
		"assumption": "usher assumes that all GPUs of a node have the same board",
	}
}

_path(pod_set) := [request.path |
	some request in pod_set.requests
	pod_set.mig.profiles[request.name]
][0]
