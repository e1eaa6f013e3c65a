# METADATA
# title: The queue has quota for every resource that the workload asks for
# description: |
#   A ClusterQueue admits only resources that its resource groups cover. A workload that also asks for cpu waits forever
#   in a queue that covers only GPUs. A workload also waits forever for a kind of GPU that the queue does not cover.
#   Kueue's configuration may ignore resources (excludeResourcePrefixes), count them as other resources
#   (transformations), or admit resources that are not covered (quotaCheckStrategy). If usher does not know this
#   configuration, the finding only warns.
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
#   why: The workload waits forever for quota that does not exist.
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
			"message": $"ClusterQueue {queues.cluster_queue.name} has no quota for {text.excerpt(uncovered.resource)}, so it can never admit {queues.workload_name}",
			"remedy": _remedy,
		},
		queues.assumption,
	)
}

_remedy := $"use queue {queues.verdict.fitsIn}, which could admit it" if {
	queues.verdict.fitsIn
} else := "use a queue whose ClusterQueue covers the resource, or have the resource added there"
