# METADATA
# title: Put accelerator workloads into their queue
# description: |
#   Where usher.yaml names a Kueue LocalQueue for the namespace, workloads that ask for accelerators and name no queue
#   get the label of that one; without it they would pass by the quota. The label goes where Kueue reads it: on the
#   object itself, of a CronJob on the template of its Jobs. Objects that a controller made are left alone, because
#   Kueue queues the outermost one; so are kinds that Kueue does not know, which the label would not govern.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue on the queue label
# schemas:
#   - input: schema.input
# custom:
#   code: USM401
package usher.mutations.queueing.queue_label

import data.usher.lib.kueue

intents contains intent if {
	queue := input.site.queue.localQueue
	input.workload.asksAccelerators
	not input.workload.owned
	input.workload.queueLabelPath
	not kueue.in_queue

	intent := {
		"at": "",
		"field": "queueLabel",
		"value": {kueue.queue_label: queue},
		"reason": $"accelerators of namespace {input.workload.namespace} are given out by queue {queue}",
	}
}
