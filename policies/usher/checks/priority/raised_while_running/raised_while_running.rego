# METADATA
# title: A running workload keeps its priority class
# description: |
#   The class in the label kueue.x-k8s.io/priority-class, and the class of a Volcano Job, can change while the job runs.
#   A job that was admitted with a low class can then raise its class so that no other job evicts it. A job that still
#   waits may change its class. Administrators and controllers may change every class; `identities` in usher.yaml says
#   who they are. In CI no object changes, so the check finds nothing there.
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
#   why: A job that got its GPUs with a low class keeps them with a high class.
#   closes: [S22]
#   remediation: Recreate the job with the other class, or ask an administrator to change the class.
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
		"remedy": $"keep {before}, or recreate the workload",
	}
}
