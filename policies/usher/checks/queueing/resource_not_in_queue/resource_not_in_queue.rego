# METADATA
# title: The queue has quota of every resource that a workload asks for
# description: |
#   A ClusterQueue admits only what its resource groups cover: a workload that asks for cpu as well waits for ever in a queue
#   that covers GPUs alone, and so does one for a kind of GPU of which the queue has none. Kueue's configuration may leave
#   resources out of account (excludeResourcePrefixes), count them as others (transformations) or let through what is not
#   covered (quotaCheckStrategy); where that configuration is not known, this only warns.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#resources
#     description: Kueue on the resources of a ClusterQueue
# schemas:
#   - input: schema.input
# custom:
#   code: USH436
#   about: cluster facts
#   severity: high
#   why: The workload waits for ever for quota that does not exist.
#   closes: [S21, S20]
#   remediation: |
#     Use a queue that covers the resource, or have it added to coveredResources of the ClusterQueue.
package usher.checks.queueing.resource_not_in_queue

import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	some uncovered in queues.verdict.uncovered

	finding := object.union(
		{
			"path": object.get(uncovered, "path", queues.path),
			"message": $"ClusterQueue {queues.cluster_queue.name} has no quota of {text.excerpt(uncovered.resource)}, so it can never admit {queues.workload_name}",
			"remedy": _remedy,
		},
		queues.assumption,
	)
}

_remedy := $"use queue {queues.verdict.fitsIn}, which could admit it" if {
	queues.verdict.fitsIn
} else := "use a queue whose ClusterQueue covers the resource, or have it added there"
