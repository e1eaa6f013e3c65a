# METADATA
# title: A Volcano Job does not wait for nodes that no autoscaler adds
# description: |
#   Volcano makes the pods of its Jobs only when the action `enqueue` finds room for the whole gang on nodes that exist.
#   Where the pods fit only a pool that has no node yet, the PodGroup stays Pending, no pod is made, and the autoscaler has
#   no pod to add a node for. The check needs the nodes, and pools of usher.yaml that scale from zero.
# scope: package
# related_resources:
#   - ref: https://github.com/volcano-sh/volcano/issues/3910
#     description: Volcano and autoscaling
#   - ref: https://volcano.sh/en/docs/actions/
#     description: Volcano on the action enqueue
# schemas:
#   - input: schema.input
# custom:
#   code: USH554
#   about: cluster facts
#   severity: medium
#   why: The Job waits for ever although the pool could hold it.
#   closes: [S24]
#   remediation: |
#     Keep one node of the pool, or take `enqueue` out of the actions of Volcano's scheduler. Or let Kueue queue the Job and
#     ask for nodes with a ProvisioningRequest.
package usher.checks.gang.volcano_waits_for_nodes_to_come

import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	places := input.cluster.nodes.fromZero[pod_set.path]

	finding := {
		"path": pod_set.path,
		"message": $"{workload.pod_set_name(pod_set)} fits only {places}, which has no node yet; Volcano makes no pod before nodes have room, so no autoscaler adds one",
		"remedy": "keep a node there, or take enqueue out of the actions of Volcano's scheduler",
		"assumption": "usher assumes that Volcano's scheduler has the action enqueue, its default",
	}
}
