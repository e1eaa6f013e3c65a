# METADATA
# title: Workloads name an existing LocalQueue of their namespace
# description: |
#   Kueue looks for a LocalQueue only in the namespace of the workload. A missing LocalQueue causes no error: Kueue
#   suspends the workload and never starts it. Authors often write the name of a ClusterQueue instead. If a LocalQueue
#   of the namespace leads to this ClusterQueue, the finding names it. Somebody may create the queue a moment later, so
#   the finding only warns, unless usher.yaml says otherwise. The check skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/local_queue/
#     description: Kueue on LocalQueues
# schemas:
#   - input: schema.input
# custom:
#   code: USH430
#   about: cluster facts
#   severity: medium
#   why: Kueue accepts the workload, suspends it, and never starts it.
#   closes: [S20, B32]
#   remediation: Name a LocalQueue of the workload's own namespace, or have one created there.
package usher.checks.queueing.queue_not_there

import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	queues.local_queue.exists == false

	finding := {
		"path": queues.path,
		"message": $"LocalQueue {_name} does not exist in namespace {input.workload.namespace}, so Kueue never starts {queues.workload_name}",
		"remedy": _remedy,
		"missing": {"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": queues.local_queue.name},
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"usher does not know whether LocalQueue {_name} exists in namespace {input.workload.namespace}: the facts of the cluster contain no LocalQueues",
} if {
	not "exists" in object.keys(queues.local_queue)
}

_name := text.excerpt(queues.local_queue.name)

_remedy := $"name LocalQueue {queues.local_queue.leadsThere}, which leads to the ClusterQueue of that name" if {
	queues.local_queue.leadsThere
} else := $"name a LocalQueue of the namespace, for example {concat(", ", queues.local_queue.others)}" if {
	queues.local_queue.others != []
} else := $"have a LocalQueue created in namespace {input.workload.namespace}, which has no LocalQueue"
