# METADATA
# title: A flavor of the queue takes the pods
# description: |
#   Kueue gives pods a flavor only if they tolerate its nodeTaints (or the flavor brings the tolerations itself), and if
#   their node selector and required affinity agree with its nodeLabels. Labels that the flavor does not declare are not
#   looked at. A flavor with a Topology takes only pods that ask to be placed by it, and pods that ask so get no other.
#   Where no flavor of a resource group takes the pods, the workload is never admitted, however much quota there is. A
#   level that is in no Topology is found by topology-level-not-there.
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
#   why: There may be quota enough, and none of it is ever given.
#   closes: [S21, S5]
#   remediation: |
#     Leave the choice of nodes to the flavors of the queue, tolerate their taints, or use a queue for the nodes that you
#     want.
package usher.checks.queueing.flavor_never_matches

import data.usher.lib.queues
import data.usher.lib.workload

deny contains finding if {
	some unmatched in queues.verdict.unmatched
	not _for_want_of_a_level(unmatched)
	pod_set := input.podSets[unmatched.podSet]

	finding := object.union(
		{
			"path": pod_set.path,
			"message": $"no flavor of ClusterQueue {queues.cluster_queue.name} takes {workload.pod_set_name(pod_set)} for {concat(", ", unmatched.resources)}: {_reasons(unmatched)}",
			"remedy": _remedy,
		},
		_assumption(unmatched),
	)
}

_for_want_of_a_level(unmatched) if unmatched.flavors[_].level

_reasons(unmatched) := concat("; ", [text |
	some flavor in unmatched.flavors
	text := $"{flavor.flavor}: {flavor.reason}"
])

_assumption(unmatched) := {"assumption": text} if {
	unmatched.flavors[_].byTopology
	text := "Kueue places pods by topology, as it does by default since 0.14"
} else := {}

_remedy := $"use queue {queues.verdict.fitsIn}, which could admit it" if {
	queues.verdict.fitsIn
} else := "tolerate the taints and drop what does not agree with the labels of a flavor, or use another queue"
