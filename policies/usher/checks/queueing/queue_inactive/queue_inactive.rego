# METADATA
# title: The queue of a workload is active
# description: |
#   The condition Active of every queue says whether Kueue can admit workloads from it. Kueue cannot admit while a
#   ResourceFlavor, a Topology or an admission check of the ClusterQueue is missing, or while the queue is being
#   deleted. The check queue-stopped finds queues that are stopped on purpose. Somebody may repair the queue at any
#   time, so the finding only warns.
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
#   why: All workloads in the queue wait, and only the queue itself says why.
#   closes: [S20, S21]
#   remediation: |
#     Have the objects created that the ClusterQueue names; `kubectl get clusterqueue NAME -o yaml` says which are
#     missing.
package usher.checks.queueing.queue_inactive

import data.usher.lib.queues

deny contains finding if {
	some queue in queues.held
	reason := queue.inactive
	not reason in _found_by_other_checks

	finding := {
		"path": queues.path,
		"message": $"{queue.kind} {queue.name} is not active ({reason}{_detail(queue)}), so Kueue starts nothing in it",
		"remedy": $"ask the administrator of {queue.kind} {queue.name} to check its condition Active, or name another LocalQueue",
	}
}

# Another check finds stopped queues, and the reason of a ClusterQueue is reported for the ClusterQueue.
_found_by_other_checks := ["ClusterQueueDoesNotExist", "ClusterQueueIsInactive", "Stopped"]

_detail(queue) := $": {json.marshal(substring(queue.message, 0, 200))}" if {
	queue.message
} else := ""
