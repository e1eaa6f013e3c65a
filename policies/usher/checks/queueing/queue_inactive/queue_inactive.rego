# METADATA
# title: The queue of a workload is active
# description: |
#   Kueue says of every queue whether it can admit anything (the condition Active). It cannot as long as a ResourceFlavor,
#   a Topology or an admission check of the ClusterQueue is missing, or while the queue is being deleted. What is stopped
#   on purpose is found by queue-stopped. It may be mended at any time, so this only warns.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_queues/
#     description: Kueue on queues that are not active
# schemas:
#   - input: schema.input
# custom:
#   code: USH433
#   about: cluster facts
#   severity: medium
#   why: Everything in the queue waits, and only the queue itself says why.
#   closes: [S20, S21]
#   remediation: Have what the ClusterQueue names created; `kubectl get clusterqueue NAME -o yaml` says what is missing.
package usher.checks.queueing.queue_inactive

import data.usher.lib.queues

deny contains finding if {
	some queue in queues.held
	reason := queue.inactive
	not reason in _said_elsewhere

	finding := {
		"path": queues.path,
		"message": $"{queue.kind} {queue.name} is not active ({reason}{_said(queue)}), so Kueue starts nothing in it",
		"remedy": $"have whoever runs {queue.kind} {queue.name} look at its condition Active, or name another LocalQueue",
	}
}

# Of a stopped queue another check speaks, and what holds a ClusterQueue back is said of that.
_said_elsewhere := {"ClusterQueueDoesNotExist", "ClusterQueueIsInactive", "Stopped"}

_said(queue) := $": {json.marshal(substring(queue.message, 0, 200))}" if {
	queue.message
} else := ""
