# METADATA
# title: A ClusterQueue covers cpu and memory
# description: |
#   Kueue admits a workload only if the queue covers every resource that its pods ask for. Training pods ask for cpu and
#   memory as well as accelerators, and LimitRanges add requests to pods without them. A queue for nvidia.com/gpu alone
#   does not admit these pods, unless Kueue's configuration excludes these resources (resources.excludeResourcePrefixes, or
#   quotaCheckStrategy IgnoreUndeclared). If cpu and memory should not limit workloads, set a very large quota.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#flavors-and-resources
#     description: Kueue on the resources of a queue
# schemas:
#   - input: schema.input
# custom:
#   code: USH1408
#   about: objects
#   kinds: [clusterQueue]
#   severity: low
#   strict_only: The queue admits workloads without these requests, and a ClusterQueue does not say which workloads use it.
#   why: Workloads that ask for cpu or memory are never admitted.
#   closes: [S21]
#   remediation: Add cpu and memory to coveredResources, with large enough quotas.
package usher.checks.objects.cpu_or_memory_not_covered

import data.usher.lib.kueue

deny contains finding if {
	count(kueue.resource_groups) > 0
	some resource in ["cpu", "memory"]
	not resource in _covered

	finding := {
		"path": "/spec/resourceGroups",
		"message": $"the ClusterQueue does not cover {resource}, so it admits no workload whose pods ask for {resource}",
		"remedy": $"add {resource} to coveredResources, or exclude it in Kueue's configuration",
	}
}

_covered contains resource if {
	some group in kueue.resource_groups
	some resource in group.coveredResources
}
