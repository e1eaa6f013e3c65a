# METADATA
# title: The queue of a workload leads to a ClusterQueue
# description: |
#   A LocalQueue only points at a ClusterQueue, which holds the quota. Where that is not there, Kueue admits nothing through
#   the LocalQueue, and no workload in it is told so. A ClusterQueue that is applied a moment later mends it, so this only
#   warns, unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/local_queue/
#     description: Kueue on LocalQueues
# schemas:
#   - input: schema.input
# custom:
#   code: USH431
#   about: cluster facts
#   severity: medium
#   why: Everything in the queue waits for ever.
#   closes: [S20]
#   remediation: |
#     Name another LocalQueue, or have the ClusterQueue created; a LocalQueue cannot be pointed at another one later.
package usher.checks.queueing.cluster_queue_not_there

import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	queues.cluster_queue.exists == false

	finding := {
		"path": queues.path,
		"message": $"LocalQueue {queues.local_queue.name} leads to ClusterQueue {_name}, which is not there, so Kueue never starts {queues.workload_name}",
		"remedy": "name a queue that leads to a ClusterQueue of `kubectl get clusterqueues`, or have this one created",
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"whether ClusterQueue {_name} could ever admit {queues.workload_name} is not known: no ClusterQueues are among the facts of the cluster",
} if {
	not queues.verdict
	not "exists" in object.keys(queues.cluster_queue)
}

_name := text.excerpt(queues.cluster_queue.name)
