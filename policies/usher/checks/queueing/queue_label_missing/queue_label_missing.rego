# METADATA
# title: GPU workloads carry the label of their queue
# description: |
#   Kueue counts and holds back only workloads with the label kueue.x-k8s.io/queue-name. Where usher.yaml says that
#   GPU workloads of a namespace belong into a queue, one without the label passes by the quota. Kueue reads the label
#   on the object itself, of a CronJob on the template of its Jobs, never on a pod template of a job. What a controller
#   made is left alone, because Kueue queues the outermost object, and so are kinds that Kueue does not know.
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
#   why: Kueue neither counts nor holds back what names no queue.
#   closes: [S20, B33]
#   remediation: |
#     Set the label kueue.x-k8s.io/queue-name to the LocalQueue of the namespace, or let the mutation queue-label do it.
package usher.checks.queueing.queue_label_missing

import data.usher.lib.kueue

deny contains finding if {
	queue := input.site.queue.localQueue
	_without_queue
	not kueue.left_out

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"no label {kueue.queue_label}, so the workload passes by queue {queue} of its namespace",
		"remedy": $"set the label {kueue.queue_label}: {queue}",
	}
}

# The label alone would not help.
deny contains finding if {
	queue := input.site.queue.localQueue
	_without_queue
	kueue.left_out

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"Kueue's configuration leaves {kueue.framework} out, so the workload passes by queue {queue} of its namespace",
		"remedy": $"have {kueue.framework} added to Kueue's integrations, or use a kind that is among them",
	}
}

_without_queue if {
	input.workload.asksAccelerators
	not input.workload.owned
	input.workload.queueLabelPath
	not kueue.in_queue
}
