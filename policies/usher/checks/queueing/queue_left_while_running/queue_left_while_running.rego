# METADATA
# title: Running Ray and Spark jobs keep the label of their queue
# description: |
#   Without the label kueue.x-k8s.io/queue-name Kueue does not manage a job. Kueue before 0.18.6 lets a user remove the
#   label from a RayJob, RayCluster, RayService or SparkApplication that is not suspended: its pods keep running, and
#   their quota is free for others. Kueue refuses this for other kinds, and later versions refuse it for these kinds.
#   usher refuses it for all versions. Administrators, controllers and the identities of the parameter may do it.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/kueue/pull/14676
#     description: Kueue on Ray and Spark jobs that leave their queue
# schemas:
#   - input: schema.input
# custom:
#   code: USH451
#   about: pods
#   severity: high
#   why: The pods keep their GPUs, and no quota counts them.
#   closes: [B32]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may remove the label, in addition to administrators and controllers.
#   remediation: Keep the label. To move the job, delete it and create it in the other queue.
package usher.checks.queueing.queue_left_while_running

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	input.workload.group in ["ray.io", "sparkoperator.k8s.io"]
	kueue.queued_as_one
	before := input.old.labels[kueue.queue_label]
	before != ""
	object.get(input.workload.labels, kueue.queue_label, "") == ""
	not input.old.suspended
	not input.workload.suspended
	not input.workload.owned
	identities := parameters.queueing.queue_left_while_running.identities
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], identities))

	finding := {
		"path": "/metadata/labels",
		"message": $"the running {input.workload.kind} leaves queue {text.excerpt(before)}, and Kueue before 0.18.6 stops counting its pods",
		"remedy": $"keep the label {kueue.queue_label}",
	}
}
