# METADATA
# title: The jobs of the training operator name their queue in their scheduling policy
# description: |
#   The training operator makes the PodGroup of a job, and takes its queue from runPolicy.schedulingPolicy.queue alone.
#   The annotation scheduling.volcano.sh/queue-name, which is right for a TrainJob, an MPIJob of version v2beta1 and for
#   pods, it does not read: the job goes to the queue `default`. The queue cannot be changed afterwards.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH507
#   about: objects
#   kinds: [pytorchJob, tfJob, xgboostJob, paddleJob, jaxJob]
#   severity: medium
#   why: The job runs in the queue `default`, without the quota and the order of its own queue.
#   closes: [S25]
#   remediation: Name the queue in spec.runPolicy.schedulingPolicy.queue, and remove the annotation.
package usher.checks.gang.kubeflow_queue_in_the_wrong_place

import data.usher.lib.kubeflow
import data.usher.lib.text
import data.usher.lib.volcano

deny contains finding if {
	queue := input.workload.annotations[volcano.queue_annotation]
	queue != ""
	object.get(kubeflow.job, ["spec", "runPolicy", "schedulingPolicy", "queue"], "") == ""

	finding := {
		"path": "/metadata/annotations/scheduling.volcano.sh~1queue-name",
		"message": $"the operator of {input.workload.kind}s does not read queue {text.excerpt(queue)} in the annotation {volcano.queue_annotation}",
		"remedy": "name the queue in spec.runPolicy.schedulingPolicy.queue",
	}
}
