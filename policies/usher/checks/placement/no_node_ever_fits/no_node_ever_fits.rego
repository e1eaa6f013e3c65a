# METADATA
# title: Every pod fits on some empty node
# description: |
#   The check compares every pod with all nodes of the cluster, and with the pools of usher.yaml that scale from zero.
#   It compares all resources, node selector and required affinity, taints, and a node that the pod names. Where the
#   ResourceSlices and DeviceClasses of the cluster are known, it also compares the claims of a pod with the devices of
#   each node, as the scheduler chooses them. Pods that fit no node stay pending forever. Only lasting properties count: a node that is full, cordoned, not ready or has an
#   unhealthy GPU may fit later. What known DaemonSets surely ask for on a node counts as taken, as for Karpenter; without
#   them the check misses a pod that needs the last byte of a node. The finding names the node or pool that misses the least: fewest kinds of obstacles first, then the
#   smallest obstacles. The check gpu-toleration-present handles the taints of declared pools and the taints that
#   accelerator nodes usually carry. Where no pool is declared for the pods, an autoscaler may add nodes that do not
#   exist now, so the finding only warns.
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
#   why: The pods stay pending forever, even on an empty cluster.
#   closes: [S3, S6, S7, S17]
#   remediation: |
#     Ask for no more than one node has, or run more and smaller pods. Select labels that nodes carry, and tolerate
#     their taints. If an autoscaler makes nodes that fit, declare its pool in usher.yaml with scalesFromZero and
#     allocatable.
package usher.checks.placement.no_node_ever_fits

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set, found)) if {
	some pod_set in input.podSets
	nodes.never_fits(pod_set)
	found := nodes.of(pod_set)

	finding := {
		"path": _path(pod_set, found.nearest),
		"message": $"{workload.pod_set_name(pod_set)} fits no node {_of(found)}, even if the node is empty: {_missing(found)}{_slices(found)}{_large(found)}",
		"remedy": _remedy(found),
	}
}

unknown contains {"path": pod_set.specPath, "reason": reason} if {
	some pod_set in input.podSets
	found := nodes.of(pod_set)
	found.verdict == "unknown"
	reason := $"usher does not know whether any node can hold {workload.pod_set_name(pod_set)}: {found.reason}"
}

_of(found) := "that the known pools of autoscalers add" if {
	found.poolsAlone
} else := "of the cluster"

_missing(found) := concat("; ", array.concat([where], parts)) if {
	nearest := found.nearest
	nearest.place
	where := $"the closest match is {nearest.place}"
	parts := array.concat(
		array.concat(
			[nodes.shortage_text(shortage) | some shortage in nearest.shortages],
			[$"the pods do not tolerate the taint {taint}" | some taint in nearest.taints],
		),
		array.concat([_label(label, found) | some label in nearest.labels], _other(nearest)),
	)
}

_large(found) := $". Only the taint {concat(" and ", found.large.taints)} keeps them off {found.large.place}" if {
	found.large
} else := ""

_missing(found) := $"no node is named {found.nearest.node}" if {
	not found.nearest.place
	found.nearest.node
}

_missing(found) := "the cluster has no nodes, and no pool of usher.yaml scales from zero" if {
	not found.nearest.place
	not found.nearest.node
}

_other(nearest) := array.concat(
	["its required node affinity matches no node" | nearest.nowhere],
	array.concat([$"no node there is named {nearest.node}" | nearest.node], [nearest.devices | nearest.devices]),
)

_label(label, found) := $"only other nodes have label {label.wants}" if label.elsewhere

else := $"Karpenter knows no value of the label in {label.wants} before a node has it, so it adds no node" if label.undefined

else := $"no node there gets label {label.wants}" if found.poolsAlone

else := $"no node has label {label.wants}{_values(label)}"

_values(label) := $" (values in use: {concat(", ", label.there)})" if label.there != []

_values(label) := "" if label.there == []

_slices(found) := $" (MIG can divide the {found.divided.board} GPUs of {found.divided.place}: {found.divided.mix} fit on {found.divided.gpus} of {found.divided.of})" if {
	found.divided
} else := ""

_path(pod_set, nearest) := path if {
	path := nearest.shortages[0].path
} else := workload.field_path(pod_set, "nodeName") if {
	not nearest.place
	pod_set.nodeName != ""
} else := workload.field_path(pod_set, "tolerations") if {
	_only(nearest, "taints")
} else := workload.field_path(pod_set, "resourceClaims") if {
	nearest.devices
	pod_set.deviceClaims > 0
} else := placement.selection_path(pod_set) if {
	nearest.shortages == []
} else := pod_set.specPath

_remedy(found) := "divide the GPUs in this way, or ask for slices that nodes have" if {
	found.divided
} else := $"tolerate {concat(" and ", found.large.taints)}, if these nodes are for the pods, or ask for what other nodes have" if {
	found.large
} else := "ask for devices that one node has together; `usher queue` shows what each node lacks" if {
	found.nearest.devices
} else := nodes.larger_disk if {
	found.nearest.shortages[0].resource == "ephemeral-storage"
	startswith(found.nearest.place, "NodePool ")
	count(found.nearest.shortages) == 1
	_only(found.nearest, "shortages")
} else := $"ask for at most {shortage.most} of {shortage.resource} per pod, and run more pods" if {
	[shortage] = found.nearest.shortages
	shortage.most != ""
	_only(found.nearest, "shortages")
} else := $"ask for {shortage.instead}, if the program can use it, or add nodes with {shortage.resource}" if {
	[shortage] = found.nearest.shortages
	shortage.instead
	_only(found.nearest, "shortages")
} else := $"run the device plugin that offers {shortage.resource} on nodes with the device, or declare the pool that has it in usher.yaml with scalesFromZero" if {
	[shortage] = found.nearest.shortages
	not shortage.daemons
	not found.poolsAlone
	contains(shortage.resource, "/")
	_only(found.nearest, "shortages")
} else := $"tolerate {concat(" and ", found.nearest.taints)}" if {
	_only(found.nearest, "taints")
} else := "select labels that the NodePool sets, or set this one in its template" if {
	_only(found.nearest, "labels")
	every label in found.nearest.labels { label.undefined }
} else := "select labels that nodes have" if {
	_only(found.nearest, "labels")
} else := "ask for no more than one node has, or declare the intended pool in usher.yaml with scalesFromZero"

_only(nearest, kind) if {
	{kind} == {each | some each in ["shortages", "taints", "labels"]; nearest[each] != []}
	not nearest.nowhere
	not nearest.node
}

_assumption(pod_set, found) := {"assumption": "the webhook adds tolerations to the pods; it cannot edit this template"} if {
	not pod_set.changeable
	found.nearest.taints != []
	some container in pod_set.containers
	container.asksAccelerators
} else := {"assumption": "usher assumes that the pods run on nodes of these pools, because it knows no other nodes"} if {
	found.poolsAlone
} else := {"assumption": "usher assumes that no autoscaler adds nodes of another kind, because usher.yaml declares no pool for these pods"} if {
	not found.declared
} else := {}
