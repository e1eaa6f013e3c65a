# METADATA
# title: The Volcano queue of a workload can hold the pods that start together
# description: |
#   A queue never gives more of a resource than its `capability` names, even if it is otherwise empty. Volcano places a
#   gang as a whole. So the pods that must start together must fit into the capability together. If the pods do not wait
#   for each other, each single pod must fit. A queue does not limit resources that its capability does not name. The
#   queues above it also count if the scheduler's plugin capacity has enableHierarchy.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH523
#   about: cluster facts
#   severity: high
#   why: The gang waits in its queue forever, even if the cluster is empty.
#   closes: [S25, S26, S27]
#   remediation: Ask for less, choose a queue with more, or have the capability raised.
package usher.checks.gang.volcano_queue_never_fits

import data.usher.lib.together
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption_of_shortage(queue, shortage)) if {
	some queue in input.cluster.volcano.queues
	some shortage in queue.shortages
	shortage.verdict == "never"
	can := together.shown(shortage.resource, shortage.capability)

	finding := {
		"path": queue.path,
		"message": $"the workload needs {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)} at once, but Volcano queue {shortage.queue} can never give more than {can}",
		"remedy": $"ask for at most {can} of {shortage.resource} at once, or choose a queue with more",
	}
}

unknown contains {
	"path": "/metadata",
	"reason": $"usher does not compare {unreadable.field} of {unreadable.of}: {unreadable.reason}",
} if {
	some unreadable in input.cluster.volcano.unreadable
}
