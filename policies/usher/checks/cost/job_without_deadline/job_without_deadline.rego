# METADATA
# title: Jobs with accelerators set a deadline
# description: |
#   A job that hangs holds its GPUs until somebody notices. One example is a collective operation that one rank never
#   reaches. A deadline ends the job: activeDeadlineSeconds of the job or of its pods, or Kueue's label
#   kueue.x-k8s.io/max-exec-time-seconds. The time counts from the start of the job, so the deadline must be longer than
#   the longest planned run.
#   The check does not judge kinds without their own deadline, for example JobSet and Volcano's Job. It skips objects
#   that a controller made, because usher judges their owner.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
#     description: Kubernetes on deadlines of Jobs
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time
#     description: Kueue on the maximum execution time
# schemas:
#   - input: schema.input
# custom:
#   code: USH1305
#   about: accelerator pods
#   severity: low
#   strict_only: Most jobs end by themselves, and their authors cannot know the longest duration.
#   why: A job that hangs holds its GPUs until somebody notices.
#   closes: [S44]
#   remediation: Set activeDeadlineSeconds to more than the longest planned run.
package usher.checks.cost.job_without_deadline

import data.usher.lib.kubeflow
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	place := _place
	not _deadline
	not _deadline_of_pods
	not _deadline_of_queue

	finding := {
		"path": place,
		"message": $"this {input.workload.kind} has no deadline, so it holds its accelerators for as long as it hangs",
		"remedy": $"set {_field} to more than the longest planned run",
	}
}

# The field of each kind.
_place := "/spec/activeDeadlineSeconds" if input.object.job

_place := "/spec/activeDeadlineSeconds" if input.object.rayJob

_place := "/spec/activeDeadlineSeconds" if input.object.trainJob

_place := "/spec/jobTemplate/spec/activeDeadlineSeconds" if input.object.cronJob

_place := "/spec/runPolicy/activeDeadlineSeconds" if kubeflow.job

_deadline := input.object.job.spec.activeDeadlineSeconds

_deadline := input.object.rayJob.spec.activeDeadlineSeconds

_deadline := input.object.trainJob.spec.activeDeadlineSeconds

_deadline := input.object.cronJob.spec.jobTemplate.spec.activeDeadlineSeconds

_deadline := kubeflow.job.spec.runPolicy.activeDeadlineSeconds

_deadline_of_pods if {
	every pod_set in workload.accelerator_pod_sets {
		pod_set.activeDeadlineSeconds
	}
}

_deadline_of_queue if input.workload.labels[_label]

_deadline_of_queue if input.workload.queueLabels[_label]

_label := "kueue.x-k8s.io/max-exec-time-seconds"

_field := replace(trim_prefix(_place, "/"), "/", ".")
