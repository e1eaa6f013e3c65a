# METADATA
# title: The Volcano queue of a workload has no queues below it
# description: |
#   Jobs belong in the leaves of a hierarchy of queues. Volcano's webhook refuses Volcano Jobs in the queue `root` and
#   in every queue that another queue names as its parent. Pods of other kinds never get resources there, if the
#   scheduler's plugin capacity has enableHierarchy.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH522
#   about: cluster facts
#   severity: high
#   why: A queue with queues below it only divides resources between them.
#   closes: [S25, S26]
#   remediation: Name one of the queues below it.
package usher.checks.gang.volcano_queue_not_a_leaf

import data.usher.lib.text
import data.usher.lib.volcano

deny contains object.union(finding, _assumption(queue)) if {
	some queue in input.cluster.volcano.queues
	why := _why[queue.standing]

	finding := {
		"path": queue.path,
		"message": $"Volcano queue {text.excerpt(queue.name)} {why}, so it accepts no jobs",
		"remedy": "name a queue without queues below it",
	}
}

_why := {
	"root": "is the root queue",
	"not a leaf": "has other queues below it",
}

_assumption(queue) := volcano.assumption(queue) if input.workload.gangNative

_assumption(_) := {"assumption": volcano.with_hierarchy} if not input.workload.gangNative
