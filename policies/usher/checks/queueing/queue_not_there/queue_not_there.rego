# METADATA
# title: The queue that a workload names is in its namespace
# description: |
#   Kueue looks a LocalQueue up in the namespace of the workload and nowhere else. One that is not there is no error: the
#   workload is suspended, and stays so. The name of a ClusterQueue in its place is the usual slip; if a LocalQueue of the
#   namespace leads to that ClusterQueue, it is named. A queue that is applied a moment later mends it, so this only
#   warns, unless usher.yaml says otherwise. What a controller made is left alone.
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
#   why: The workload is accepted, suspended, and never started.
#   closes: [S20, B32]
#   remediation: Name a LocalQueue of the workload's own namespace, or have one created there.
package usher.checks.queueing.queue_not_there

import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	queues.local_queue.exists == false

	finding := {
		"path": queues.path,
		"message": $"LocalQueue {_name} is not in namespace {input.workload.namespace}, so Kueue never starts {queues.workload_name}",
		"remedy": _remedy,
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"whether LocalQueue {_name} is in namespace {input.workload.namespace} is not known: no LocalQueues are among the facts of the cluster",
} if {
	not "exists" in object.keys(queues.local_queue)
}

_name := text.excerpt(queues.local_queue.name)

_remedy := $"name LocalQueue {queues.local_queue.leadsThere}, which leads to the ClusterQueue of that name" if {
	queues.local_queue.leadsThere
} else := $"name a LocalQueue of the namespace, such as {concat(", ", queues.local_queue.others)}" if {
	queues.local_queue.others != []
} else := $"have a LocalQueue created in namespace {input.workload.namespace}, which has none"
