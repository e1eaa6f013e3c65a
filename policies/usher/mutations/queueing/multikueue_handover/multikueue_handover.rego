# METADATA
# title: Hand jobs of a MultiKueue queue over to MultiKueue
# description: |
#   MultiKueue runs the jobs of a queue in other clusters. The controller of the job in this cluster must ignore
#   this job, and the field managedBy tells it to. `multiKueue: true` in `queues` of usher.yaml says that a queue
#   belongs to MultiKueue. The webhook then names MultiKueue in managedBy of the jobs in this queue. For a job that the
#   webhook puts into the queue, the mutation queue-label sets both fields at once, because a job that MultiKueue manages
#   outside of its queue never runs.
#   The field is immutable, so the webhook sets it only at creation. It skips objects that a controller made and jobs
#   that name another controller.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/multikueue/
#     description: Kueue on MultiKueue
# schemas:
#   - input: schema.input
# custom:
#   code: USM403
#   order: 12
#   about: accelerator pods
package usher.mutations.queueing.multikueue_handover

import data.usher.lib.kueue
import data.usher.lib.text

intents contains {
	"at": "",
	"field": "managedBy",
	"value": {"name": kueue.multikueue},
	"reason": $"MultiKueue runs the jobs of queue {input.site.queue.localQueue} in other clusters",
	"needs": [kueue.need_of_queue],
} if not _why_not

skips contains {"at": "", "reason": _why_not}

_why_not := "usher.yaml names no queue of MultiKueue for this workload" if not input.site.queue.multiKueue

else := "a controller made this object, and MultiKueue takes the owner" if input.workload.owned

else := $"the kind {input.workload.kind} has no field managedBy" if not input.workload.lifecycle.managedBy

else := "the mutation queue-label sets the queue and managedBy together" if not kueue.in_queue

else := $"the workload is in queue {text.excerpt(kueue.queue_name)}, which usher.yaml does not declare for it" if {
	kueue.queue_name != input.site.queue.localQueue
}
