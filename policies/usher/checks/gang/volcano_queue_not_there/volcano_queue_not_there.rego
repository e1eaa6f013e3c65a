# METADATA
# title: The Volcano queue of a workload exists
# description: |
#   Volcano's queues belong to no namespace, and Volcano does not make a queue because a workload names it. Its webhook
#   refuses a Volcano Job whose queue does not exist. For all other kinds the PodGroup and its pods wait. A workload
#   without a queue gets `default`. The check only warns unless usher.yaml says otherwise, because the queue may be
#   applied a moment later.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH520
#   about: cluster facts
#   severity: medium
#   why: The pods wait forever in a queue that does not exist.
#   closes: [S25, S26]
#   remediation: Name a queue that `kubectl get queues.scheduling.volcano.sh` lists, or have the queue created.
package usher.checks.gang.volcano_queue_not_there

import data.usher.lib.text
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption(queue)) if {
	some queue in input.cluster.volcano.queues
	queue.standing == "missing"

	finding := {
		"path": queue.path,
		"message": $"Volcano queue {text.excerpt(queue.name)} does not exist, so the workload never starts",
		"remedy": "name a queue that `kubectl get queues.scheduling.volcano.sh` lists",
		"missing": {"group": "scheduling.volcano.sh", "kind": "Queue", "name": queue.name},
	}
}

unknown contains {
	"path": queue.path,
	"reason": $"usher does not know whether Volcano queue {text.excerpt(queue.name)} exists: the facts of the cluster contain no Volcano queues",
} if {
	some queue in input.cluster.volcano.queues
	queue.standing == "not known"
}
