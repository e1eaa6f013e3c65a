# METADATA
# title: LocalQueues lead to an existing ClusterQueue
# description: |
#   A LocalQueue only points at a ClusterQueue, and the ClusterQueue holds the quota. If the ClusterQueue does not
#   exist, Kueue admits nothing through the LocalQueue, and the workloads in it do not show the reason. Somebody may
#   create the ClusterQueue a moment later, so the finding only warns, unless usher.yaml says otherwise.
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
#   why: All workloads in the queue wait forever.
#   closes: [S20]
#   remediation: |
#     Name another LocalQueue, or have the ClusterQueue created. A LocalQueue cannot be changed to point at another
#     ClusterQueue.
package usher.checks.queueing.cluster_queue_not_there

import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	queues.cluster_queue.exists == false

	finding := {
		"path": queues.path,
		"message": $"LocalQueue {queues.local_queue.name} leads to ClusterQueue {_name}, which does not exist, so Kueue never starts {queues.workload_name}",
		"remedy": "name a queue that leads to a ClusterQueue of `kubectl get clusterqueues`, or have this one created",
		"missing": {"group": "kueue.x-k8s.io", "kind": "ClusterQueue", "name": queues.cluster_queue.name},
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"usher does not know whether ClusterQueue {_name} could ever admit {queues.workload_name}: the facts of the cluster contain no ClusterQueues",
} if {
	not queues.verdict
	not "exists" in object.keys(queues.cluster_queue)
}

_name := text.excerpt(queues.cluster_queue.name)
