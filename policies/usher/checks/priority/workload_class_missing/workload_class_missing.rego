# METADATA
# title: Queued workloads name a WorkloadPriorityClass
# description: |
#   Kueue orders its queues, and chooses which workloads it evicts, by the class in the label
#   kueue.x-k8s.io/priority-class. Without the label it uses the class of the first pod template, whose values have
#   another scale. Where a site requires the label, every queued workload must carry it. The check skips objects that a
#   controller made, because Kueue queues the outermost object.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH608
#   about: accelerator pods
#   severity: high
#   why: The position of the job in its queue is left to chance.
#   closes: [S22]
#   parameters:
#     required:
#       default: false
#       description: Whether queued workloads must carry the label.
#   remediation: Set the label kueue.x-k8s.io/priority-class beside the label of the queue.
package usher.checks.priority.workload_class_missing

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.priority

deny contains finding if {
	parameters.priority.workload_class_missing.required
	not input.workload.owned
	kueue.in_queue
	not priority.workload_class

	finding := {
		"path": priority.workload_class_path,
		"message": $"the workload has no label {priority.workload_class_label}, so it has no priority of its own in its queue",
		"remedy": $"set the label {priority.workload_class_label}",
	}
}
