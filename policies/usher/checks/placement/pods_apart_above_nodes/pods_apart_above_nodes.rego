# METADATA
# title: The nodes have room for pods that keep apart from each other
# description: |
#   With required anti-affinity to its own labels each pod wants a node, or a value of another label, for itself. A spread
#   constraint with `DoNotSchedule` lets no value of its label have more than `maxSkew` pods above the value with the fewest.
#   Values count whose nodes cannot hold the pods: nodes without GPUs, if the pods do not select nodes, and nodes with taints,
#   if `nodeTaintsPolicy` is not `Honor`. They keep 0 pods, so the others get `maxSkew` pods each. With fewer values than
#   `minDomains` the same happens. The check counts the values on nodes that could hold the pods when they are empty. Jobs
#   whose pods may run one after another pass.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#     description: Kubernetes on spread constraints
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
#     description: Kubernetes on anti-affinity between pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH1630
#   about: cluster facts
#   severity: medium
#   why: Some pods stay pending although accelerators are free.
#   closes: [S24]
#   remediation: |
#     Prefer to keep apart instead of requiring it, select the nodes with accelerators, or run fewer pods.
package usher.checks.placement.pods_apart_above_nodes

import data.usher.lib.amounts
import data.usher.lib.text

deny contains finding if {
	not input.workload.owned
	some apart in input.cluster.nodes.apart

	finding := {
		"path": apart.path,
		"message": $"{amounts.number_of(apart.pods, "pod", "pods")} must keep apart by the label {text.excerpt(apart.key)}, and {_room(apart)}, so only {apart.most} can run",
		"remedy": _remedy(apart),
		"assumption": "usher assumes that no node with another value is added",
	}
}

_room(apart) := $"the nodes that could hold them have {amounts.number_of(count(apart.values), "value", "values")}" if {
	count(apart.empty) == 0
	apart.least == 0
}

_room(apart) := $"no node of {_shown(apart.empty)} can hold one, which counts as 0 pods" if count(apart.empty) > 0

_room(apart) := $"minDomains wants {apart.least} values, but the nodes have {count(apart.values)}" if {
	count(apart.empty) == 0
	apart.least > 0
}

_remedy(apart) := "use preferredDuringSchedulingIgnoredDuringExecution, or run fewer pods" if {
	count(apart.empty) == 0
	apart.least == 0
} else := "set whenUnsatisfiable: ScheduleAnyway, or lower minDomains" if {
	count(apart.empty) == 0
} else := "select the nodes that can hold the pods with nodeSelector, or set whenUnsatisfiable: ScheduleAnyway"

_most := 3

_shown(values) := concat(", ", values) if count(values) <= _most

_shown(values) := $"{concat(", ", array.slice(values, 0, _most))} and {count(values) - _most} more" if count(values) > _most
