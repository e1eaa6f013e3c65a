# METADATA
# title: PodGroups name a queue of Volcano that takes them
# description: |
#   A PodGroup without a queue gets `default`. Volcano's webhook refuses one whose queue is not Open, and nothing is ever
#   scheduled from a queue that is not there, that is the root, or that has queues below it. A queue may be made, or opened,
#   a moment later, so this only warns, unless usher.yaml says otherwise.
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
#   remediation: |
#     Name a leaf queue that `kubectl get queues.scheduling.volcano.sh` lists as Open.
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
	"reason": $"whether Volcano has a queue {text.excerpt(group.queue)} is not known: no queues are among the facts of the cluster",
} if {
	group := input.cluster.podGroupObject
	group.standing == "not known"
}

_message(group) := $"Volcano has no queue {text.excerpt(group.queue)}, so the group never starts" if {
	group.standing == "missing"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} is {text.excerpt(group.state)} and takes nothing new" if {
	group.standing == "not open"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} has queues below it and so starts nothing" if {
	group.standing == "not a leaf"
}

_message(group) := $"Volcano queue {text.excerpt(group.queue)} is the root and starts nothing" if {
	group.standing == "root"
}
