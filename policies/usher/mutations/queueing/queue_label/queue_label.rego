# METADATA
# title: Put accelerator workloads into their queue
# description: |
#   Where usher.yaml names a Kueue LocalQueue for a workload, by its namespace, role, kind and size, one that asks for
#   accelerators and names no queue gets the label of it; without the label it would pass by the quota. The label goes
#   where Kueue reads it: on the object itself, of a CronJob on the template of its Jobs. Objects that a controller made
#   are left alone, because Kueue queues the outermost one; so are kinds that Kueue does not know, which the label would
#   not govern. A kind whose integration Kueue's configuration leaves out (the parameter frameworks of
#   integration-not-enabled) is not labelled, which would only look like a queue: the user is warned instead.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue on the queue label
# schemas:
#   - input: schema.input
# custom:
#   code: USM401
#   order: 10
#   about: accelerator pods
#   promises: [queueing/queue_label_missing]
package usher.mutations.queueing.queue_label

import data.usher.lib.kueue

intents contains intent if {
	queue := input.site.queue.localQueue
	kueue.joins_declared_queue

	intent := {
		"at": "",
		"field": "kueueLabel",
		"value": {"key": kueue.queue_label, "value": queue},
		"reason": $"accelerators of namespace {input.workload.namespace} are given out by queue {queue}",
		"needs": [kueue.need_of_queue],
	}
}

warnings contains {"at": "", "reason": reason} if {
	not _why_not
	kueue.left_out
	reason := $"Kueue's configuration leaves {kueue.framework} out, so nothing puts it into queue {input.site.queue.localQueue}: have it added, or use a kind that is among them"
}

skips contains {"at": "", "reason": _why_not}

_why_not := "usher.yaml names no queue for it" if not input.site.queue

else := "Kueue queues what made it" if input.workload.owned

else := $"Kueue does not queue a {input.workload.kind}" if not input.workload.queueLabelPath

else := $"it is in queue {kueue.queue_name}" if kueue.in_queue
