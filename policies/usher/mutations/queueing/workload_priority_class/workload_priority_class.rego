# METADATA
# title: Give queued workloads the class of their queue
# description: |
#   Kueue orders its queues, and chooses whom it evicts, by the WorkloadPriorityClass in the label
#   kueue.x-k8s.io/priority-class. Where usher.yaml declares a class beside the queue, a workload of that queue, or one
#   that is put into it, gets the label beside that of the queue, if it has none. Workloads in other queues are left alone,
#   and so is what a controller made. Pods keep their own priority class.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USM402
#   order: 11
#   about: accelerator pods
#   promises: [priority/workload_class_missing]
package usher.mutations.queueing.workload_priority_class

import data.usher.lib.kueue
import data.usher.lib.priority
import data.usher.lib.text

# In no queue the class would be for nothing, so that queue has to be there as well.
intents contains object.union(_intent, {"needs": [_need, kueue.need_of_queue]}) if {
	not _why_not
	not kueue.in_queue
}

intents contains object.union(_intent, {"needs": [_need]}) if {
	not _why_not
	kueue.in_queue
}

_class := input.site.queue.priorityClass

_intent := {
	"at": "",
	"field": "kueueLabel",
	"value": {"key": priority.workload_class_label, "value": _class},
	"reason": $"workloads in queue {input.site.queue.localQueue} have class {_class} unless they name another",
}

_need := {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": _class}

skips contains {"at": "", "reason": _why_not}

_why_not := "usher.yaml names no class for its queue" if not _class

else := "Kueue queues what made it" if input.workload.owned

else := $"Kueue does not queue a {input.workload.kind}" if not input.workload.queueLabelPath

else := $"the user chose queue class {text.excerpt(priority.workload_class)}" if priority.workload_class != _class

else := $"it is in queue {kueue.queue_name}, and the class is for {input.site.queue.localQueue}" if {
	kueue.queue_name != input.site.queue.localQueue
}

else := $"Kueue's configuration leaves {kueue.framework} out" if kueue.left_out
