# METADATA
# title: The limits of a NodePool allow all pods of a workload
# description: |
#   `limits` of a NodePool of Karpenter bound what all its nodes have together. Karpenter adds no machine that would
#   exceed them, so the rest of the pods stays pending, also on an empty cluster. The check looks at pods that select
#   their NodePool by name, and at accelerators. It counts the fewest pods of the workload. Where no node is known, pods
#   without a selector that tolerate the taint of a NodePool count too, and the finding only warns.
#
#   A Deployment that makes a new pod before it stops an old one needs room for both: at the limit no rollout ever ends.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/nodepools/#speclimits
#     description: Karpenter on limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH342
#   about: cluster facts
#   severity: medium
#   why: Some pods stay pending forever, and those that run wait for them.
#   closes: [S3, S6]
#   remediation: |
#     Run fewer pods, let them select another NodePool, or raise the limits of the NodePool. For a rollout alone, set
#     maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate.
package usher.checks.placement.more_than_the_node_pool_may_add

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.rollouts
import data.usher.lib.workload

deny contains object.union(finding, _assumption(beyond)) if {
	some pod_set in workload.accelerator_pod_sets
	beyond := input.cluster.nodePools.beyondLimits[pod_set.path]
	beyond.asked > beyond.most
	not nodes.never_fits(pod_set)

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{_pods(pod_set)} ask for {beyond.asked} of {beyond.resource} together, and the limits of {concat(" and ", beyond.pools)} allow {beyond.most}",
		"remedy": "run fewer pods, select another NodePool, or raise limits of the NodePool",
	}
}

deny contains object.union(finding, _assumption(beyond)) if {
	not input.workload.owned
	rollouts.surge_before_stopping
	some pod_set in workload.accelerator_pod_sets
	beyond := input.cluster.nodePools.beyondLimits[pod_set.path]
	beyond.asked <= beyond.most
	not nodes.never_fits(pod_set)

	finding := {
		"path": rollouts.strategy_path,
		"message": $"a rollout asks for {beyond.asked + beyond.each} of {beyond.resource} at once, and the limits of {concat(" and ", beyond.pools)} allow {beyond.most}, so it never ends",
		"remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate",
	}
}

_assumption(beyond) := {"assumption": beyond.assumed} if beyond.assumed

_assumption(beyond) := {} if not beyond.assumed

_pods(pod_set) := "the pods" if pod_set.name == ""

_pods(pod_set) := $"the pods of {pod_set.name}" if pod_set.name != ""
