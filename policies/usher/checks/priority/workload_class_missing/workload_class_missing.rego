# METADATA
# title: Queued workloads have a class of the queue
# description: |
#   Kueue orders its queues, and chooses whom it evicts, by the class in the label kueue.x-k8s.io/priority-class. Without
#   the label the class of the first pod template counts, whose values are on a scale of their own. Where a site requires
#   the label, a workload in a queue has to carry it. What a controller made is left alone, because Kueue queues the
#   outermost object.
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
#   why: The job stands somewhere in the queue, and nobody has decided where.
#   closes: [S22]
#   parameters:
#     required:
#       default: false
#       description: Whether queued workloads must carry the label.
#   remediation: Set the label kueue.x-k8s.io/priority-class beside that of the queue.
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
		"message": $"no label {priority.workload_class_label}, so the workload has no place of its own in its queue",
		"remedy": $"set the label {priority.workload_class_label}",
	}
}
