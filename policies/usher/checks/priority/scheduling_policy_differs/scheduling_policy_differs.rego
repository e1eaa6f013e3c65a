# METADATA
# title: The scheduling policy and the templates of a job name one class
# description: |
#   The jobs of kubeflow.org name a priority class in two places. That of runPolicy.schedulingPolicy orders the job in
#   Kueue's queue and in Volcano's; that of the templates decides whom its pods evict and who evicts them. Where they
#   differ the job enters by one rank and is thrown out by the other. A template without class is for another check.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/#priority
#     description: Kueue on the priority of a workload
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH611
#   about: accelerator pods
#   severity: medium
#   why: The job waits by one priority and is evicted by another.
#   closes: [S23]
#   remediation: Name the same class in runPolicy.schedulingPolicy.priorityClass and in every template.
package usher.checks.priority.scheduling_policy_differs

import data.usher.lib.kubeflow
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	class := kubeflow.scheduling_policy.priorityClass
	class != ""
	some pod_set in workload.accelerator_pod_sets
	not pod_set.priorityClassName in {"", class}

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has priority class {text.excerpt(pod_set.priorityClassName)}, but the scheduling policy of the job says {text.excerpt(class)}",
		"remedy": "name the same class in both places",
	}
}
