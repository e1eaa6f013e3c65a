# METADATA
# title: The KAI queue of a workload exists
# description: |
#   Pods that name a queue of KAI-Scheduler which does not exist wait for it. The check only warns unless usher.yaml says
#   otherwise, because the queue may be applied a moment later.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH553
#   about: cluster facts
#   severity: medium
#   why: The pods wait for ever, and only the log of the scheduler says why.
#   closes: [S25, S26]
#   remediation: Create the queue, or name one that exists.
package usher.checks.gang.kai_queue_not_there

import data.usher.lib.kai
import data.usher.lib.text

deny contains finding if {
	kai.places_pods
	some queue in input.cluster.kai.named
	not queue.exists

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.name)} does not exist, so its pods are never placed",
		"remedy": "create the queue, or name one that `kubectl get queues.scheduling.run.ai` lists",
		"missing": {"group": "scheduling.run.ai", "kind": "Queue", "name": queue.name},
	}
}
