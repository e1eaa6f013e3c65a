# METADATA
# title: The Volcano queue of a workload can hold all of its pods
# description: |
#   Pods beyond what a queue names in its `capability` are never placed. A gang that says it starts with fewer, and pods that
#   do not wait for each other, run without the others for as long as they live.
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
#   why: A part of the pods waits for ever, whatever else runs in the queue.
#   closes: [S25, S27]
#   remediation: |
#     Ask for fewer pods, choose a queue with more, or have the capability raised.
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
		"message": $"all of its pods take {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)}; Volcano queue {shortage.queue} can never give more than {can}, so some of them wait for ever",
		"remedy": $"ask for at most {can} of it, or choose a queue with more",
	}
}
