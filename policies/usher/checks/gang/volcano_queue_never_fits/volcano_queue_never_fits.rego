# METADATA
# title: The Volcano queue of a workload can hold what starts together
# description: |
#   What a queue names in its `capability` it never gives more of, whoever else waits. A gang is placed as a whole, so what its
#   pods take together, as many as have to start together, must be within it; of pods that do not wait for each other each
#   one must. Resources that a queue does not name are not bounded by it. The queues above count where the scheduler's
#   plugin capacity has enableHierarchy.
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
#   why: The gang waits in its queue for ever, also when the cluster is empty.
#   closes: [S25, S26, S27]
#   remediation: |
#     Ask for less, choose a queue with more, or have the capability raised.
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
		"message": $"needs {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)} at once; Volcano queue {shortage.queue} can never give more than {can}",
		"remedy": $"ask for at most {can} of it at once, or choose a queue with more",
	}
}

unknown contains {
	"path": "/metadata",
	"reason": $"{unreadable.of}, {unreadable.field}: {unreadable.reason}; what it says is not compared",
} if {
	some unreadable in input.cluster.volcano.unreadable
}
