# METADATA
# title: The MIG slices of one pod fit on the GPUs of one node
# description: |
#   All devices of a pod come from one node. The board decides how many slices a GPU holds and which slices fit beside
#   each other. A `3g` and four `1g` fit on one GPU. Two `3g` and a `1g` do not, although their sizes add up.
#
#   A pod waits forever if its slices need more GPUs than a node has, in every placement and on every possible board.
#   The node selector or the pools of usher.yaml name the board by the label nvidia.com/gpu.product. Otherwise the check
#   takes the board that holds the most of these slices.
#
#   The parameter gpusPerNode in usher.yaml (parameters, more-than-a-node-holds) sets how many GPUs a node has. While it
#   is not set, a finding only warns.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on which profiles fit together on a GPU
# schemas:
#   - input: schema.input
# custom:
#   code: USH704
#   about: accelerator pods
#   severity: high
#   why: No node can hold the pod, so it waits forever.
#   closes: [S17]
#   parameters:
#     gpusPerNode:
#       default: 8
#       description: GPUs of the largest node that uses MIG.
#   remediation: Ask for fewer slices per pod and run more pods. Or ask for slices that fit together on one GPU.
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
	reason := "usher cannot compute how many GPUs these slices need, because the pod asks for too many different slices"
}

_may_need_more(board) if not board.exact

_may_need_more(board) if board.gpus > _gpus_per_node

_finding(pod_set) := {
	"path": _path(pod_set),
	"message": $"{mig.of_one_pod(pod_set)} need {_fewest(pod_set)} GPUs on one node, but no node has more than {_gpus_per_node}",
	"remedy": "ask for fewer slices per pod, or for slices that fit on fewer GPUs",
}

_fewest(pod_set) := min([board.gpus | some board in pod_set.mig.boards])

# The first request for slices: the slices exceed the node only together.
_path(pod_set) := [request.path |
	some request in pod_set.requests
	pod_set.mig.profiles[request.name]
][0]

_gpus_per_node := parameters.mig.more_than_a_node_holds.gpusPerNode

_assumed := {} if input.site.parameters["mig/more_than_a_node_holds"].gpusPerNode

_assumed := {"assumption": $"usher assumes that no node has more than {_gpus_per_node} GPUs"} if {
	not input.site.parameters["mig/more_than_a_node_holds"].gpusPerNode
}
