# METADATA
# title: The Volcano queue of a workload is open
# description: |
#   A queue that is Closed or Closing takes nothing new: Volcano's webhook refuses Jobs of its own and PodGroups that name it.
#   Whoever closed it may open it again, so this only warns, unless usher.yaml says otherwise.
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
#   why: Nothing starts in a queue that somebody has closed.
#   closes: [S25, S26]
#   remediation: |
#     Name a queue that is Open, or ask whoever closed this one.
package usher.checks.gang.volcano_queue_not_open

import data.usher.lib.text
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption(queue)) if {
	some queue in input.cluster.volcano.queues
	queue.standing == "not open"

	finding := {
		"path": queue.path,
		"message": $"Volcano queue {text.excerpt(queue.name)} is {text.excerpt(queue.state)} and takes nothing new",
		"remedy": "name a queue that is Open, or have this one opened",
	}
}
