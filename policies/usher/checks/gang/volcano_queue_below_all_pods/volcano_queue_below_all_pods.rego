# METADATA
# title: The Volcano queue of a workload can hold all of its pods
# description: |
#   Volcano never places pods beyond the `capability` of their queue. A gang with a smaller minimum, and pods that do
#   not wait for each other, then run without the remaining pods for their whole life.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH524
#   about: cluster facts
#   severity: medium
#   why: Some pods wait forever, even if the queue is otherwise empty.
#   closes: [S25, S27]
#   remediation: Ask for fewer pods, choose a queue with more, or have the capability raised.
package usher.checks.gang.volcano_queue_below_all_pods

import data.usher.lib.together
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption_of_shortage(queue, shortage)) if {
	some queue in input.cluster.volcano.queues
	some shortage in queue.shortages
	shortage.verdict == "not all"
	can := together.shown(shortage.resource, shortage.capability)

	finding := {
		"path": queue.path,
		"message": $"all pods together need {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)}, but Volcano queue {shortage.queue} can never give more than {can}, so some pods wait forever",
		"remedy": $"ask for at most {can} of {shortage.resource}, or choose a queue with more",
	}
}
