# METADATA
# title: The Volcano queue of a workload is open
# description: |
#   A queue that is Closed or Closing accepts no new workloads. Volcano's webhook refuses Volcano Jobs and PodGroups
#   that name it. The check only warns unless usher.yaml says otherwise, because an administrator may open the queue
#   again.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH521
#   about: cluster facts
#   severity: medium
#   why: No new workload starts in a queue that is not open.
#   closes: [S25, S26]
#   remediation: Name a queue that is Open, or have this queue opened.
package usher.checks.gang.volcano_queue_not_open

import data.usher.lib.text
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption(queue)) if {
	some queue in input.cluster.volcano.queues
	queue.standing == "not open"

	finding := {
		"path": queue.path,
		"message": $"Volcano queue {text.excerpt(queue.name)} is {text.excerpt(queue.state)}, so it accepts no new workloads",
		"remedy": "name a queue that is Open, or have this queue opened",
	}
}
