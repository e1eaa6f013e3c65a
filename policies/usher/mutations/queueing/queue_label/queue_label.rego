# METADATA
# title: Put accelerator workloads into their Kueue queue
# description: |
#   usher.yaml can name a Kueue LocalQueue for a workload, by its namespace, role, kind and size. The webhook adds the
#   queue label to an accelerator workload that names no queue. Without the label the workload would bypass the quota.
#   The label goes where Kueue reads it: on the object itself, or for a CronJob on the template of its Jobs. Kueue queues
#   the pods of a Workflow or a PipelineRun one by one, so there only templates that ask for accelerators get the label.
#   The webhook skips objects that a controller made, because Kueue queues the outermost object. It skips kinds that
#   Kueue does not support, because the label would have no effect. It also skips a kind whose integration is missing in
#   Kueue's configuration (the parameter frameworks of integration-not-enabled), and warns the user: the label would
#   only look like a queue. It skips a workload that Kueue would refuse or never admit, and warns the user too: a RayJob
#   that keeps its cluster or runs on another one, a Ray cluster that scales itself, pods that name a ResourceClaim
#   directly or ask for a part of a GPU by annotation, and a workload in a queue of KAI-Scheduler or Volcano
#   where usher.yaml sends workloads of the namespace to that scheduler (routing). Elsewhere this label would get
#   around the queue. By the facts of the cluster it also skips a queue without quota for a resource of the workload.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue on the queue label
# schemas:
#   - input: schema.input
# custom:
#   code: USM401
#   order: 10
#   protects_others: true
#   about: accelerator pods
#   promises: [queueing/queue_label_missing]
package usher.mutations.queueing.queue_label

import data.usher.lib.kueue
import data.usher.lib.queueable

intents contains intent if {
	queue := input.site.queue.localQueue
	queueable.joins_declared_queue
	some place in queueable.places_of_labels

	intent := object.union(place, {
		"value": object.union({"key": kueue.queue_label, "value": queue}, _manager),
		"reason": $"usher.yaml puts this workload of namespace {input.workload.namespace} into queue {queue}",
		"needs": [kueue.need_of_queue],
	})
}

# A job that MultiKueue manages outside of its queue never runs, so both come together.
_manager := {"managedBy": kueue.multikueue} if {
	input.site.queue.multiKueue
	input.workload.lifecycle.managedBy
} else := {}

warnings contains {"at": "", "reason": reason} if {
	not _why_not
	kueue.left_out
	reason := $"Kueue's configuration does not enable {kueue.framework}, so the webhook cannot put the workload into queue {input.site.queue.localQueue}; have it enabled in Kueue's configuration, or use an enabled kind"
}

warnings contains {"at": "", "reason": $"the webhook does not put the workload into queue {input.site.queue.localQueue}, because {obstacle}"} if {
	kueue.could_join_declared_queue
	some obstacle in queueable.obstacles
}

skips contains {"at": "", "reason": _why_not}

_why_not := "usher.yaml names no queue for this workload" if not input.site.queue

else := "a controller made this object, and Kueue queues the owner" if input.workload.owned

else := $"Kueue does not queue objects of kind {input.workload.kind}" if not input.workload.queueLabelPath

else := $"the workload is already in queue {kueue.queue_name}" if kueue.in_queue
