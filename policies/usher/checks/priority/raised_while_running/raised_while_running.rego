# METADATA
# title: A running workload keeps its priority class
# description: |
#   The class in the label kueue.x-k8s.io/priority-class and that of a Volcano Job may be changed while the job runs. Who
#   got in at the end of the queue can make sure in this way that nobody evicts him. Jobs that still wait may change their
#   class, and administrators and controllers may change every class; who they are, `identities` in usher.yaml says. In CI
#   nobody changes anything.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
#     description: Kueue on workload priority classes
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano on the fields of a Job
# schemas:
#   - input: schema.input
# custom:
#   code: USH610
#   about: pods
#   severity: medium
#   why: A job that got its GPUs on low terms keeps them on high ones.
#   closes: [S22]
#   remediation: |
#     Make the job anew in the other class, or ask an administrator to change it.
package usher.checks.priority.raised_while_running

import data.usher.lib.priority
import data.usher.lib.text

deny contains finding if {
	input.workload.queueLabelPath == "/metadata"
	finding := _finding(priority.workload_class_path, input.old.labels[priority.workload_class_label], priority.workload_class)
}

deny contains finding if {
	after := input.object.volcanoJob.spec.priorityClassName
	finding := _finding("/spec/priorityClassName", input.old.object.volcanoJob.spec.priorityClassName, after)
}

_finding(path, before, after) := finding if {
	input.review
	not priority.asked_by_administration
	not input.workload.suspended
	before != ""
	before != after

	finding := {
		"path": path,
		"message": $"the priority class of a running workload changes from {text.excerpt(before)} to {text.excerpt(after)}",
		"remedy": $"leave it at {before}, or make the workload anew",
	}
}
