# METADATA
# title: Training and batch work on nodes that Karpenter moves or replaces is protected
# description: |
#   A NodePool with `consolidationPolicy: WhenEmptyOrUnderutilized`, the default, lets Karpenter move pods to other nodes
#   at any time to save one. With `expireAfter` below its default of 720 hours, Karpenter replaces every node at this age;
#   with `terminationGracePeriod` it then ends also pods that forbid it. A budget of 0 nodes for the reason Underutilized
#   stops the consolidation. A run then loses all work since its last checkpoint, on all of its pods. The check
#   needs the NodePool, among the facts or in the files, and looks at pods that select its nodes by a label. Where no node
#   is known, it also looks at pods without a selector that tolerate the taint of a NodePool.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/disruption/
#     description: Karpenter on consolidation, and on pods that it does not disrupt
# schemas:
#   - input: schema.input
# custom:
#   code: USH1310
#   about: cluster facts
#   severity: medium
#   why: Hours of training are lost to save a node for minutes.
#   closes: [S35]
#   remediation: |
#     On the pod templates, set the annotation karpenter.sh/do-not-disrupt to "true". Or give the NodePool
#     `consolidationPolicy: WhenEmpty`.
package usher.checks.cost.training_on_a_consolidating_pool

import data.usher.lib.text
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set)) if {
	input.workload.role in ["batch", "training"]
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	pool := input.cluster.nodePools.consolidating[pod_set.path]
	not _protected(pod_set.annotations)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"NodePool {text.excerpt(pool)} consolidates its nodes, so Karpenter may stop {_pods(pod_set)} during {_work}",
		"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true", or let the NodePool consolidate WhenEmpty`,
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	input.workload.role in ["batch", "training"]
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	expiring := input.cluster.nodePools.expiring[pod_set.path]
	not input.cluster.nodePools.consolidating[pod_set.path]
	not _protected(pod_set.annotations)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"NodePool {text.excerpt(expiring.pool)} replaces each node {text.excerpt(expiring.after)} after its start, so Karpenter may stop {_pods(pod_set)} during {_work}",
		"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true", or set expireAfter of the NodePool to Never`,
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	input.workload.role in ["batch", "training"]
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	expiring := input.cluster.nodePools.expiring[pod_set.path]
	_protected(pod_set.annotations)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"NodePool {text.excerpt(expiring.pool)} replaces each node {text.excerpt(expiring.after)} after its start and ends its pods {text.excerpt(expiring.grace)} later, so karpenter.sh/do-not-disrupt does not keep {_pods(pod_set)} longer",
		"remedy": "set expireAfter of the NodePool to Never, or leave out its terminationGracePeriod",
	}
}

_assumption(pod_set) := {"assumption": "usher assumes that no other nodes offer these devices"} if {
	pod_set.path in input.cluster.nodePools.tolerating
} else := {}

_work := "the training" if input.workload.role == "training"

else := "its work"

_protected(annotations) if not object.get(annotations, "karpenter.sh/do-not-disrupt", "") in ["", "false"]

_pods(pod_set) := "the pod" if pod_set.name == ""

_pods(pod_set) := $"the pods of {pod_set.name}" if pod_set.name != ""
