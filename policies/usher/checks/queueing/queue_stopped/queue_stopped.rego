# METADATA
# title: The queue of a workload is not stopped
# description: |
#   An administrator can stop a LocalQueue or a ClusterQueue (stopPolicy): with Hold it admits nothing new, with
#   HoldAndDrain it also sends away what runs. The workload waits until somebody lets it go on. That is no fault of the
#   workload, so this only warns.
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
#   why: Nothing is admitted until somebody resumes the queue.
#   closes: [S20, S21]
#   remediation: Wait, ask whoever runs the queue, or name another one.
package usher.checks.queueing.queue_stopped

import data.usher.lib.queues

deny contains finding if {
	some queue in queues.held
	policy := queue.stopPolicy

	finding := {
		"path": queues.path,
		"message": $"{queue.kind} {queue.name} is stopped (stopPolicy {policy}), so Kueue does not start {queues.workload_name} until it is resumed",
		"remedy": "ask whoever runs the queue how long, or name another LocalQueue",
	}
}
