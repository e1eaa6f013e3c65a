# METADATA
# title: Give queued workloads the priority class of their queue
# description: |
#   Kueue orders workloads, and chooses which ones to evict, by the WorkloadPriorityClass in the label
#   kueue.x-k8s.io/priority-class. usher.yaml can declare a class with the queue. The webhook adds the label to a
#   workload of that queue, or to one that it puts into the queue, if the workload has no class. It skips workloads in
#   other queues and objects that a controller made. Pods keep their own priority class.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USM402
#   order: 11
#   protects_others: true
#   about: accelerator pods
#   promises: [priority/workload_class_missing]
package usher.mutations.queueing.workload_priority_class

import data.usher.lib.kueue
import data.usher.lib.priority
import data.usher.lib.queueable
import data.usher.lib.text

# The class has no effect outside a queue, so the queue must exist too.
intents contains object.union(_intent(place), {"needs": [_need, kueue.need_of_queue]}) if {
	not _why_not
	not kueue.in_queue
	some place in queueable.places_of_labels
}

intents contains object.union(_intent(place), {"needs": [_need]}) if {
	not _why_not
	kueue.in_queue
	some place in queueable.places_of_labels
}

_class := input.site.queue.priorityClass

_intent(place) := object.union(place, {
	"value": {"key": priority.workload_class_label, "value": _class},
	"reason": $"usher.yaml gives workloads in queue {input.site.queue.localQueue} the class {_class} by default",
})

_need := {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": _class}

skips contains {"at": "", "reason": _why_not}

_why_not := "usher.yaml names no class for the queue of this workload" if not _class

else := "a controller made this object, and Kueue queues the owner" if input.workload.owned

else := $"Kueue does not queue objects of kind {input.workload.kind}" if not input.workload.queueLabelPath

else := $"the workload already has the queue class {text.excerpt(priority.workload_class)}" if priority.workload_class != _class

else := $"the workload is in queue {kueue.queue_name}, but usher.yaml sets the class for {input.site.queue.localQueue}" if {
	kueue.queue_name != input.site.queue.localQueue
}

else := $"Kueue's configuration does not enable {kueue.framework}" if kueue.left_out

else := "Kueue cannot take the workload into a queue" if not queueable.will_be_queued
