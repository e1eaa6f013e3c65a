# METADATA
# title: The queue of a workload is not stopped
# description: |
#   An administrator can stop a LocalQueue or a ClusterQueue with stopPolicy. With Hold it admits no new workloads; with
#   HoldAndDrain it also evicts running workloads. The workload waits until somebody resumes the queue. The workload
#   itself is correct, so the finding only warns.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#stoppolicy
#     description: Kueue on stopPolicy
# schemas:
#   - input: schema.input
# custom:
#   code: USH432
#   about: cluster facts
#   severity: medium
#   why: Kueue admits nothing until somebody resumes the queue.
#   closes: [S20, S21]
#   remediation: Wait, ask the administrator of the queue, or name another queue.
package usher.checks.queueing.queue_stopped

import data.usher.lib.queues

deny contains finding if {
	some queue in queues.held
	policy := queue.stopPolicy

	finding := {
		"path": queues.path,
		"message": $"{queue.kind} {queue.name} is stopped (stopPolicy {policy}), so Kueue does not start {queues.workload_name} until it is resumed",
		"remedy": "ask the administrator of the queue how long it is stopped, or name another LocalQueue",
	}
}
