# METADATA
# title: The Volcano queue of a workload is there
# description: |
#   Volcano's queues belong to no namespace, and none is made for whoever names it. Its webhook refuses a Job of its own whose
#   queue does not exist; of every other kind the PodGroup waits, and so do the pods. A workload that names no queue gets
#   `default`. A queue that is applied a moment later mends it, so this only warns, unless usher.yaml says otherwise.
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
#   why: The pods wait for ever in a queue that nobody has.
#   closes: [S25, S26]
#   remediation: |
#     Name a queue that `kubectl get queues.scheduling.volcano.sh` lists, or have the queue created.
package usher.checks.gang.volcano_queue_not_there

import data.usher.lib.text
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption(queue)) if {
	some queue in input.cluster.volcano.queues
	queue.standing == "missing"

	finding := {
		"path": queue.path,
		"message": $"Volcano has no queue {text.excerpt(queue.name)}, so the workload never starts",
		"remedy": "name a queue that `kubectl get queues.scheduling.volcano.sh` lists",
	}
}

unknown contains {
	"path": queue.path,
	"reason": $"whether Volcano has a queue {text.excerpt(queue.name)} is not known: no queues are among the facts of the cluster",
} if {
	some queue in input.cluster.volcano.queues
	queue.standing == "not known"
}
