# METADATA
# title: The limit of a NodePool has room for its pods
# description: |
#   `limits` of a Karpenter NodePool bound the devices of all its nodes together. Pods that select the NodePool and ask for
#   more wait for ever: Karpenter adds no node. A Deployment that makes a new pod before it stops an old one needs room for
#   both, so with the limit at the number of its GPUs no rollout ever ends.
#
#   The check compares limits on accelerators with the pods of one workload that select the NodePool by its name. Other
#   workloads on the NodePool make it worse.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/nodepools/#speclimits
#     description: Karpenter on limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH1114
#   about: cluster facts
#   severity: medium
#   why: Some pods never start, or a new version of the service never does.
#   remediation: |
#     Raise the limit of the NodePool, or ask for less. For a rollout alone, set maxSurge 0 and maxUnavailable 1, or the
#     type of the strategy to Recreate.
package usher.checks.scaling.pods_above_the_limit_of_their_pool

import data.usher.lib.rollouts
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some limit in input.cluster.nodePools.limits[pod_set.path]
	each := _each(pod_set, limit.resource)
	wanted := each * pod_set.pods.minimum
	wanted > limit.limit

	finding := {
		"path": $"{pod_set.specPath}/nodeSelector",
		"message": $"{pod_set.pods.minimum} pods ask for {wanted} {limit.resource}, but the limit of NodePool {text.excerpt(limit.pool)} is {limit.limit}, so some never start",
		"remedy": $"raise limits of the NodePool to {wanted}, or ask for less",
	}
}

deny contains finding if {
	not input.workload.owned
	rollouts.surge_before_stopping
	some pod_set in workload.accelerator_pod_sets
	some limit in input.cluster.nodePools.limits[pod_set.path]
	each := _each(pod_set, limit.resource)
	each * pod_set.pods.minimum <= limit.limit
	wanted := each * (pod_set.pods.minimum + 1)
	wanted > limit.limit

	finding := {
		"path": rollouts.strategy_path,
		"message": $"a rollout needs {wanted} {limit.resource} at once, but the limit of NodePool {text.excerpt(limit.pool)} is {limit.limit}, so it never ends",
		"remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate",
	}
}

_each(pod_set, resource) := sum([request.minimum.value |
	some request in pod_set.requests
	request.name == resource
])
