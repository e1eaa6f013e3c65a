# METADATA
# title: The scheduling policy and the templates of a job name the same class
# description: |
#   The jobs of kubeflow.org name a priority class in two places. The class in runPolicy.schedulingPolicy orders the job
#   in the queues of Kueue and Volcano. The class in the templates decides which pods they evict, and which pods evict
#   them. If the two differ, the job enters the queue with one rank and is evicted with another. Another check handles
#   templates without a class.
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
#   why: The job waits with one priority and is evicted with another.
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
	not pod_set.priorityClassName in ["", class]

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has priority class {text.excerpt(pod_set.priorityClassName)}, but the job's scheduling policy has {text.excerpt(class)}",
		"remedy": "name the same class in both places",
	}
}
