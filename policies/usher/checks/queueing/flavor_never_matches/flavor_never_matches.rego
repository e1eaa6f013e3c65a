# METADATA
# title: A flavor of the queue matches the pods
# description: |
#   Kueue gives pods a flavor only if two conditions hold. First, the pods tolerate its nodeTaints, or the flavor adds
#   the tolerations itself. Second, the node selector and required affinity of the pods agree with its nodeLabels. Kueue
#   ignores labels that the flavor does not declare. A flavor with a Topology accepts only pods that ask for topology
#   placement, and these pods get no other flavor. Its nodes must have room for the pods in one domain of the level that
#   they require, and in all domains together. usher counts what empty nodes hold, if it knows them. If no flavor of a
#   resource group matches the pods, Kueue never admits the workload, even with enough quota. The check topology-level-not-there finds a level that is in no Topology.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/
#     description: Kueue on ResourceFlavors
# schemas:
#   - input: schema.input
# custom:
#   code: USH437
#   about: cluster facts
#   severity: high
#   why: Kueue never gives the quota to the workload, even if there is enough.
#   closes: [S21, S5]
#   remediation: |
#     Let the flavors of the queue choose the nodes, tolerate their taints, or use a queue for the nodes that you want.
package usher.checks.queueing.flavor_never_matches

import data.usher.lib.queues
import data.usher.lib.workload

deny contains finding if {
	some unmatched in queues.verdict.unmatched
	not _lacks_topology_level(unmatched)
	pod_set := input.podSets[unmatched.podSet]

	finding := object.union(
		{
			"path": pod_set.path,
			"message": $"no flavor of ClusterQueue {queues.cluster_queue.name} matches {workload.pod_set_name(pod_set)} for {concat(", ", unmatched.resources)}: {_reasons(unmatched)}",
			"remedy": _remedy(unmatched),
		},
		_assumption(unmatched),
	)
}

_lacks_topology_level(unmatched) if unmatched.flavors[_].level

_reasons(unmatched) := concat("; ", [text |
	some flavor in unmatched.flavors
	text := $"{flavor.flavor}: {flavor.reason}"
])

_assumption(unmatched) := {"assumption": text} if {
	unmatched.flavors[_].byTopology
	text := "usher assumes that Kueue places pods by topology, the default since version 0.14"
} else := {}

_remedy(unmatched) := $"use queue {queues.verdict.fitsIn}, which could admit it" if {
	queues.verdict.fitsIn
} else := $"label these nodes with {labels[0]}" if {
	labels := [flavor.unlabelled | some flavor in unmatched.flavors]
	count(labels) > 0
} else := $"tolerate {taints[0]}, or ask for fewer or smaller pods" if {
	taints := [flavor.taint | some flavor in unmatched.flavors]
	count(taints) > 0
} else := "ask for fewer or smaller pods, or for a wider level of the topology, or use another queue" if {
	unmatched.flavors[_].held >= 0
} else := "tolerate the taints and remove selectors that contradict the labels of a flavor, or use another queue"
