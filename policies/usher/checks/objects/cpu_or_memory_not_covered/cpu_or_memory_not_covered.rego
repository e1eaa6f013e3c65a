# METADATA
# title: A ClusterQueue covers cpu and memory
# description: |
#   Kueue admits a workload only when the queue covers every resource that its pods ask for. Pods that train ask for cpu
#   and memory beside their accelerators, and LimitRanges give requests to those that do not: a queue for
#   nvidia.com/gpu alone admits none of them, unless Kueue's configuration leaves these resources out
#   (resources.excludeResourcePrefixes, or quotaCheckStrategy IgnoreUndeclared). Where they should not matter, a very
#   large quota does as well.
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
#   why: Workloads that ask for cpu or memory are never admitted.
#   closes: [S21]
#   remediation: |
#     Add cpu and memory to coveredResources, with quotas that are large enough.
package usher.checks.objects.cpu_or_memory_not_covered

import data.usher.lib.kueue

deny contains finding if {
	count(kueue.resource_groups) > 0
	some resource in ["cpu", "memory"]
	not resource in _covered

	finding := {
		"path": "/spec/resourceGroups",
		"message": $"the ClusterQueue does not cover {resource}, so it admits no workload whose pods ask for any",
		"remedy": $"cover {resource} as well, or leave it out in Kueue's configuration",
	}
}

_covered contains resource if {
	some group in kueue.resource_groups
	some resource in group.coveredResources
}
