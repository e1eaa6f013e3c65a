# METADATA
# title: A leader on other machines is in no subgroup of its workers
# description: |
#   The annotation `subgroup-exclusive-topology` of LeaderWorkerSet gives each subgroup the nodes of one value of a label. The
#   leader belongs to the first subgroup, unless `subGroupPolicyType` is `LeaderExcluded`. A leader that selects machines
#   without accelerators, in another node pool, can then never be in the domain of its workers. The check compares the node
#   selectors of both templates.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/lws/blob/main/keps/257-Subgroup-leader-only/README.md
#     description: LeaderWorkerSet on leaders outside the subgroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1632
#   about: pods
#   severity: medium
#   why: The leader or the workers of the first subgroup stay pending, and the group never starts.
#   closes: [S24]
#   remediation: Set subGroupPolicy.subGroupPolicyType to LeaderExcluded.
package usher.checks.placement.leader_with_the_workers

import data.usher.lib.text

_key := "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"

deny contains finding if {
	not input.workload.owned
	level := input.workload.annotations[_key]
	policy := input.object.leaderWorkerSet.spec.leaderWorkerTemplate.subGroupPolicy
	object.get(policy, "subGroupPolicyType", "") != "LeaderExcluded"
	some leader in input.podSets
	endswith(leader.path, "/leaderTemplate")
	some worker in input.podSets
	endswith(worker.path, "/workerTemplate")
	not _asks_accelerators(leader)
	_asks_accelerators(worker)
	count(leader.nodeSelector) > 0
	leader.nodeSelector != worker.nodeSelector

	finding := {
		"path": "/spec/leaderWorkerTemplate/subGroupPolicy",
		"message": $"the leader is in the first subgroup, whose pods share one value of {text.excerpt(level)}, but it selects other nodes than the workers",
		"remedy": "set subGroupPolicyType to LeaderExcluded",
		"assumption": "usher assumes that no value of the label has nodes for both",
	}
}

_asks_accelerators(pod_set) if count(pod_set.requests) > 0
