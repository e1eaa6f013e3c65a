# METADATA
# title: Groups that do not all fit are started as gangs
# description: |
#   The pods of one group of a LeaderWorkerSet need each other. The scheduler of Kubernetes places them one by one: where
#   the nodes cannot hold all groups, leaders of several groups may take the nodes that workers need, and no group is
#   complete. The check computes how many pods the nodes hold at once when they are empty.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/lws/issues/167
#     description: LeaderWorkerSet on gang scheduling
#   - ref: https://lws.sigs.k8s.io/docs/reference/configuration/
#     description: The gang provider of LeaderWorkerSet
# schemas:
#   - input: schema.input
# custom:
#   code: USH337
#   about: cluster facts
#   severity: medium
#   why: Several groups hold GPUs, and no group works.
#   closes: [S24]
#   remediation: |
#     Give the workload a queue of Kueue, or configure the operator with a gang provider (Volcano). Or run as many groups
#     as the nodes hold.
package usher.checks.placement.groups_without_gang

import data.usher.lib.kueue

deny contains finding if {
	groups := input.cluster.nodes.groups
	not kueue.in_queue

	finding := {
		"path": "",
		"message": $"all groups need {groups.wanted} pods, the nodes hold {groups.most} of them, and nothing starts a group as a gang: leaders can take the nodes that workers of other groups need",
		"remedy": "set the label kueue.x-k8s.io/queue-name, give the operator a gang provider, or run fewer groups",
		"assumption": "usher assumes that no node is added, and that the operator has no gang provider",
	}
}
