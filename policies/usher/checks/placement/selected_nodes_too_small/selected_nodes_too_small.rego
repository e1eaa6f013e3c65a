# METADATA
# title: The nodes that pods select can hold them
# description: |
#   Pods that select the nodes of a NodePool of Karpenter or of a ComputeClass of GKE run only there, and an autoscaler
#   adds only machines of the types that the pool allows, within its limits. Pods that select machine types run only on
#   these. The check compares the pods with the types of AWS, Azure, Google Cloud, Oracle Cloud, CoreWeave and Nebius that
#   usher knows; another type is unknown. It needs no nodes. The pool has to be among the facts or in the files. Where
#   no node is known, labels that a pool sets select it too, also a taint that pods without a selector tolerate, and the
#   finding only warns. Karpenter takes off what DaemonSets ask for on each node, where they are known. It
#   counts GPUs of a machine, not the shares that a device plugin offers later, so time-slicing does not help. For a
#   machine type alone, the check only compares devices, and only warns, because nodes that exist may share their GPUs.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/nodepools/
#     description: Karpenter on the requirements and limits of NodePools
#   - ref: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes
#     description: GKE on ComputeClasses
# schemas:
#   - input: schema.input
# custom:
#   code: USH340
#   about: accelerator pods
#   severity: high
#   why: No autoscaler adds a node that holds the pods, so they stay pending forever.
#   closes: [S3, S6]
#   remediation: |
#     Ask for no more than one machine has, or let the NodePool or the ComputeClass allow a larger machine type.
package usher.checks.placement.selected_nodes_too_small

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.workload

deny contains object.union(finding, _assumption(small)) if {
	some pod_set in workload.accelerator_pod_sets
	small := input.cluster.nodePools.tooSmall[pod_set.path]
	not nodes.never_fits(pod_set)

	finding := {
		"path": _path(pod_set, small),
		"message": $"{workload.pod_set_name(pod_set)} {_chooses(small)}: the closest match is {small.place}; {concat("; ", array.concat(_shortages(small), _labels(small)))}",
		"remedy": _remedy(small),
	}
}

_chooses(small) := "selects only nodes that cannot hold it" if small.selected

_chooses(small) := "tolerates the taint of pools whose nodes cannot hold it" if not small.selected

_remedy(small) := nodes.larger_disk if {
	{"ephemeral-storage"} == {each.resource | some each in small.shortages}
	small.labels == []
} else := "select labels that the nodes of the pool have" if {
	small.shortages == []
	small.counted
} else := $"ask for what these nodes offer, or tell Karpenter of {small.shortages[0].resource} by a NodeOverlay" if {
	small.shortages[0].most == ""
	contains(small.shortages[0].resource, "/")
	not small.shortages[0].instead
	not small.shortages[0].daemons
	startswith(small.place, "NodePool ")
	not contains(small.place, "without")
} else := "ask for no more than one machine has, or let the pods select a pool with larger machines"

_path(pod_set, small) := path if {
	path := small.shortages[0].path
} else := placement.selection_path(pod_set)

_shortages(small) := [nodes.shortage_text(shortage) | some shortage in small.shortages]

_labels(small) := [$"its nodes do not have {wanted}" | some wanted in small.labels]

_assumption(small) := {"assumption": small.assumed} if small.assumed

_assumption(small) := {} if {
	small.counted
	not small.assumed
}

_assumption(small) := {"assumption": "usher assumes that these nodes do not offer one GPU several times"} if not small.counted
