# METADATA
# title: PodGroups name an open leaf queue of Volcano
# description: |
#   A PodGroup without a queue gets the queue `default`. Volcano's webhook refuses a PodGroup whose queue is not Open.
#   Volcano never schedules pods from a queue that does not exist, from the root queue, or from a queue with queues
#   below it. The check only warns unless usher.yaml says otherwise, because the queue may be created or opened a moment
#   later.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH528
#   about: cluster facts
#   kinds: [volcanoPodGroup]
#   severity: medium
#   why: No pod of the group ever starts.
#   closes: [S26]
#   remediation: Name a leaf queue that `kubectl get queues.scheduling.volcano.sh` lists as Open.
package usher.checks.gang.pod_group_queue_unusable

import data.usher.lib.text

deny contains finding if {
	group := input.cluster.podGroupObject
	message := _message(group)

	finding := {
		"path": group.path,
		"message": message,
		"remedy": "name a leaf queue that `kubectl get queues.scheduling.volcano.sh` lists as Open",
	}
}

unknown contains {
	"path": group.path,
	"reason": $"usher does not know whether Volcano queue {text.excerpt(group.queue)} exists: the facts of the cluster contain no Volcano queues",
} if {
	group := input.cluster.podGroupObject
	group.standing == "not known"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} does not exist, so the group never starts" if {
	group.standing == "missing"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} is {text.excerpt(group.state)}, so it accepts no new PodGroups" if {
	group.standing == "not open"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} has queues below it, so it starts no pods" if {
	group.standing == "not a leaf"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} is the root queue, so it starts no pods" if {
	group.standing == "root"
}
