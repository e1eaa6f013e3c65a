# METADATA
# title: The KAI queue of a workload can hold pods
# description: |
#   KAI-Scheduler takes pods only from queues below another one: pods that name a queue without `parentQueue` wait for
#   ever. A queue with a parent may hold pods and other queues.
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
#   remediation: Name a queue that has a parent, or make one.
package usher.checks.gang.kai_queue_unusable

import data.usher.lib.kai
import data.usher.lib.text

deny contains finding if {
	kai.places_pods
	some queue in input.cluster.kai.named
	queue.exists
	not queue.hasParent

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.name)} has no parentQueue, so its pods are never placed",
		"remedy": "make a queue with this one as its parentQueue, and name that",
	}
}
