# METADATA
# title: The limits of a NodePool allow all pods of a workload
# description: |
#   `limits` of a NodePool of Karpenter bound what all its nodes have together. Karpenter adds no machine that would
#   exceed them, so the rest of the pods stays pending, also on an empty cluster. The check looks at pods that select
#   their NodePool by name, and at accelerators. It counts the fewest pods of the workload.
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
#     Run fewer pods, let them select another NodePool, or raise the limits of the NodePool.
package usher.checks.placement.more_than_the_node_pool_may_add

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	beyond := input.cluster.nodePools.beyondLimits[pod_set.path]
	not nodes.never_fits(pod_set)

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{_pods(pod_set)} ask for {beyond.asked} of {beyond.resource} together, and the limits of {concat(" and ", beyond.pools)} allow {beyond.most}",
		"remedy": "run fewer pods, select another NodePool, or raise limits of the NodePool",
	}
}

_pods(pod_set) := "the pods" if pod_set.name == ""

_pods(pod_set) := $"the pods of {pod_set.name}" if pod_set.name != ""
