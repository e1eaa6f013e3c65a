# METADATA
# title: The slices of one pod fit on the GPUs of one node
# description: |
#   All devices of a pod come from one node. How many slices a GPU holds, its board says, and not every mix of them
#   fits: a `3g` and four `1g` do, two `3g` and a `1g` do not, although their sizes add up. Slices that need more GPUs
#   than a node has, however they are placed and whichever board it is, keep the pod waiting for ever. The board is the
#   one that the node selector or the pools of usher.yaml name by the label nvidia.com/gpu.product, or else the most
#   generous of those with the profiles. usher.yaml says how many GPUs a node has (parameters, more-than-a-node-holds,
#   gpusPerNode); while it does not, a finding only warns.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on how often each profile fits, and beside which others
# schemas:
#   - input: schema.input
# custom:
#   code: USH704
#   about: accelerator pods
#   severity: high
#   why: No node can ever hold the pod, so it waits for ever.
#   closes: [S17]
#   parameters:
#     gpusPerNode:
#       default: 8
#       description: GPUs of the largest node that is divided by MIG.
#   remediation: |
#     Ask for fewer slices per pod, and for more pods instead; or for a mix that fits together on one GPU.
package usher.checks.mig.more_than_a_node_holds

import data.usher.lib.mig
import data.usher.lib.nodes
import data.usher.lib.parameters

deny contains object.union(_finding(pod_set), _assumed) if {
	some pod_set in input.podSets
	count(pod_set.mig.boards) > 0
	every board in pod_set.mig.boards {
		board.gpus > _gpus_per_node
	}
	not nodes.never_fits(pod_set)
}

unknown contains {"path": _path(pod_set), "reason": reason} if {
	some pod_set in input.podSets
	some board in pod_set.mig.boards
	board.gpus <= _gpus_per_node
	every other in pod_set.mig.boards {
		_may_need_more(other)
	}
	reason := "these slices are too many and too mixed to find out on how many GPUs they fit"
}

_may_need_more(board) if not board.exact

_may_need_more(board) if board.gpus > _gpus_per_node

_finding(pod_set) := {
	"path": _path(pod_set),
	"message": $"{mig.of_one_pod(pod_set)} need {_fewest(pod_set)} GPUs of the same node, and no node has more than {_gpus_per_node}",
	"remedy": "ask for fewer slices per pod, or for a mix that fits on fewer GPUs",
}

_fewest(pod_set) := min([board.gpus | some board in pod_set.mig.boards])

# The first of the requests that asks for slices; no set of them is at fault by itself.
_path(pod_set) := [request.path |
	some request in pod_set.requests
	pod_set.mig.profiles[request.name]
][0]

_gpus_per_node := parameters.mig.more_than_a_node_holds.gpusPerNode

_assumed := {} if input.site.parameters["mig/more_than_a_node_holds"].gpusPerNode

_assumed := {"assumption": $"no node has more than {_gpus_per_node} GPUs"} if {
	not input.site.parameters["mig/more_than_a_node_holds"].gpusPerNode
}
