# METADATA
# title: The KAI queue of a workload can hold pods
# description: |
#   KAI-Scheduler has queues in a tree of two levels. Pods go into the queues below: a queue without `parentQueue`, or with
#   queues below it, cannot hold pods, and pods that name it wait for ever.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on queues
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/issues/621
#     description: What happens to pods in a queue at the top
# schemas:
#   - input: schema.input
# custom:
#   code: USH551
#   about: cluster facts
#   severity: medium
#   why: The pods wait for ever, and only the log of the scheduler says why.
#   closes: [S25, S26]
#   remediation: Name a queue that has a parent and no queues below it, or make one.
package usher.checks.gang.kai_queue_unusable

import data.usher.lib.kai
import data.usher.lib.text

deny contains finding if {
	kai.places_pods
	some queue in input.cluster.kai.named
	why := _why(queue)

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.name)} {why}, so its pods are never placed",
		"remedy": "make a queue with this one as its parentQueue, and name that",
	}
}

_why(queue) := "has no parentQueue" if {
	queue.exists
	not queue.hasParent
	not queue.isParent
}

_why(queue) := "has other queues below it" if queue.isParent
