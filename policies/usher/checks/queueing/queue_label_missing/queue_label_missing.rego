# METADATA
# title: GPU workloads carry the label of their queue
# description: |
#   Kueue counts and holds back only workloads with the label kueue.x-k8s.io/queue-name. If usher.yaml says that the GPU
#   workloads of a namespace belong in a queue, a workload without the label bypasses the quota. Kueue reads the label
#   on the object itself; for a CronJob it reads the template of its Jobs. It never reads the label on a pod template of
#   a job. If that LocalQueue does not exist, neither the label nor the mutation can help, and the finding names it.
#   The check skips objects that a controller made, because Kueue queues the outermost object. It also skips
#   kinds that Kueue does not know.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue on the queue label
# schemas:
#   - input: schema.input
# custom:
#   code: USH401
#   about: accelerator pods
#   severity: high
#   why: Kueue neither counts nor holds back a workload that names no queue.
#   closes: [S20, B33]
#   remediation: |
#     Set the label kueue.x-k8s.io/queue-name to the LocalQueue of the namespace, or let the mutation queue-label set
#     it.
package usher.checks.queueing.queue_label_missing

import data.usher.lib.kueue
import data.usher.lib.queueable

deny contains finding if {
	queue := input.site.queue.localQueue
	_without_queue
	not kueue.left_out
	not _declared_queue_missing

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"the workload has no label {kueue.queue_label}, so Kueue does not put it into queue {queue}, where usher.yaml wants it",
		"remedy": _remedy(queue),
	}
}

_remedy(queue) := $"set the label {kueue.queue_label}: {queue}" if count(queueable.obstacles) == 0

_remedy(queue) := $"Kueue cannot take it into {queue} yet: {concat(". Also, ", sort(queueable.obstacles))}" if {
	count(queueable.obstacles) > 0
}

# The mutation says the same: a label for a queue that does not exist would keep the workload waiting for ever.
deny contains finding if {
	queue := input.site.queue.localQueue
	_without_queue
	not kueue.left_out
	_declared_queue_missing

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"LocalQueue {queue}, into which usher.yaml puts this workload, does not exist in namespace {input.workload.namespace}",
		"remedy": "ask the administrators of the cluster to create it, or to correct queues in usher.yaml",
	}
}

# Where Kueue ignores the kind, the label alone does not help.
deny contains finding if {
	queue := input.site.queue.localQueue
	_without_queue
	kueue.left_out

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"Kueue's configuration does not enable {kueue.framework}, so Kueue does not put the workload into queue {queue}, where usher.yaml wants it",
		"remedy": $"ask the administrators of the cluster to enable {kueue.framework} in Kueue, or use a kind that Kueue queues",
	}
}

_declared_queue_missing if input.cluster.kueue.declaredQueueMissing

_without_queue if {
	input.workload.asksAccelerators
	not input.workload.owned
	input.workload.queueLabelPath
	not kueue.in_queue
}
