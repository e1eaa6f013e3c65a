# METADATA
# title: Some node could hold a pod, if it were empty
# description: |
#   Every pod is held against all nodes of the cluster, and against the pools of usher.yaml that scale from zero: all
#   resources, node selector and required affinity, taints, a node that is named. Pods that fit no node are pending for
#   ever. Only what stays counts: a node that is full, cordoned, not ready or has a GPU that is ill may well do later.
#   What DaemonSets take is not known, so that a pod that needs the last byte of a node is not found. The finding names
#   the node or pool of which the least is missing: fewest kinds of obstacles, and then the smallest. Taints of declared
#   pools and the taints that such nodes usually carry are the matter of gpu-toleration-present. Where no pool is
#   declared for the pods, an autoscaler may know of nodes that are not there now, so the finding only warns.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/
#     description: Kubernetes on how a node is found for a pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH330
#   about: cluster facts
#   severity: high
#   why: The pods are pending for ever, however empty the cluster is.
#   closes: [S3, S6, S7, S17]
#   remediation: |
#     Ask for what one node has, or run more and smaller pods; select labels that nodes carry; tolerate their taints. If
#     an autoscaler makes nodes that fit, declare its pool in usher.yaml with scalesFromZero and allocatable.
package usher.checks.placement.no_node_ever_fits

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set, found)) if {
	some pod_set in input.podSets
	found := nodes.of(pod_set)
	found.verdict == "never"

	finding := {
		"path": _path(pod_set, found.nearest),
		"message": $"{workload.pod_set_name(pod_set)} fits no node of the cluster, not even an empty one: {_missing(found.nearest)}{_slices(found)}",
		"remedy": _remedy(found),
	}
}

unknown contains {"path": pod_set.specPath, "reason": reason} if {
	some pod_set in input.podSets
	found := nodes.of(pod_set)
	found.verdict == "unknown"
	reason := $"whether any node can hold {workload.pod_set_name(pod_set)} is not known: {found.reason}"
}

_missing(nearest) := concat("; ", array.concat([where], parts)) if {
	nearest.place
	where := $"nearest is {nearest.place}"
	parts := array.concat(
		array.concat(
			[_shortage(shortage) | some shortage in nearest.shortages],
			[$"the taint {taint} is not tolerated" | some taint in nearest.taints],
		),
		array.concat([_label(label) | some label in nearest.labels], _other(nearest)),
	)
}

_missing(nearest) := $"no node is named {nearest.node}" if {
	not nearest.place
	nearest.node
}

_missing(nearest) := "there is no node, and no pool of usher.yaml scales from zero" if {
	not nearest.place
	not nearest.node
}

_other(nearest) := array.concat(
	["its required node affinity matches no node at all" | nearest.nowhere],
	[$"none of its nodes is named {nearest.node}" | nearest.node],
)

_shortage(shortage) := $"{shortage.most} of {shortage.resource} on one node at most, and one pod asks for {shortage.asked}" if {
	shortage.most != ""
}

_shortage(shortage) := $"no {shortage.resource} there, and one pod asks for {shortage.asked}" if shortage.most == ""

_label(label) := $"label {label.wants} is on other nodes" if label.elsewhere

_label(label) := $"no node has label {label.wants}{_values(label)}" if not label.elsewhere

_values(label) := $", values there are {concat(", ", label.there)}" if label.there != []

_values(label) := "" if label.there == []

_slices(found) := $" (if MIG divided the {found.divided.board} of {found.divided.place} so, {found.divided.mix} would fit on {found.divided.gpus} of {found.divided.of})" if {
	found.divided
} else := ""

_path(pod_set, nearest) := path if {
	path := nearest.shortages[0].path
} else := workload.field_path(pod_set, "nodeName") if {
	not nearest.place
	pod_set.nodeName != ""
} else := workload.field_path(pod_set, "tolerations") if {
	_only(nearest, "taints")
} else := placement.selection_path(pod_set) if {
	nearest.shortages == []
} else := pod_set.specPath

_remedy(found) := "divide the GPUs so, or ask for slices that nodes have" if {
	found.divided
} else := $"ask for {shortage.most} of {shortage.resource} per pod at most, and run more pods" if {
	[shortage] = found.nearest.shortages
	shortage.most != ""
	_only(found.nearest, "shortages")
} else := $"tolerate {concat(" and ", found.nearest.taints)}" if {
	_only(found.nearest, "taints")
} else := "select labels as nodes carry them" if {
	_only(found.nearest, "labels")
} else := "ask for what one node has, or declare the pool that is meant with scalesFromZero in usher.yaml"

_only(nearest, kind) if {
	{kind} == {each | some each in ["shortages", "taints", "labels"]; nearest[each] != []}
	not nearest.nowhere
	not nearest.node
}

_assumption(pod_set, found) := {"assumption": "its pods are given tolerations when they are made, which this template cannot be"} if {
	not pod_set.changeable
	found.nearest.taints != []
} else := {"assumption": "no autoscaler adds nodes of another kind: usher.yaml declares no pool for such pods"} if {
	not found.declared
} else := {}
