# METADATA
# title: Jobs of the training operator name their Volcano queue in schedulingPolicy.queue
# description: |
#   The training operator makes the PodGroup of a job. It reads the queue only from runPolicy.schedulingPolicy.queue.
#   The annotation scheduling.volcano.sh/queue-name is right for a TrainJob, for an MPIJob of version v2beta1 and for
#   pods, but this operator ignores it. The job then goes to the queue `default`, and the queue cannot be changed
#   afterwards.
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
		"message": $"the operator of {input.workload.kind}s does not read the annotation {volcano.queue_annotation}, which names queue {text.excerpt(queue)}",
		"remedy": "name the queue in spec.runPolicy.schedulingPolicy.queue",
	}
}
