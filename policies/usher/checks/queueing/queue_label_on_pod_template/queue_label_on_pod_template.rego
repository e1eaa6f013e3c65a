# METADATA
# title: The queue label is on the job, not on its pod templates
# description: |
#   If a job carries kueue.x-k8s.io/queue-name in its own metadata, Kueue makes one workload of it and admits it as a
#   whole. On a pod template alone, the label does not queue the job. Where Kueue watches plain pods, it queues each pod
#   separately, so half of a job may run and wait for the other half. Elsewhere Kueue ignores the label. The check skips
#   pods of a Kueue pod group, because Kueue queues them together. It skips Deployments, because Kueue always queues
#   their pods one by one. It also skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue on where the queue label goes
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/
#     description: Kueue on plain pods and groups of them
# schemas:
#   - input: schema.input
# custom:
#   code: USH403
#   about: labelled pods
#   severity: medium
#   why: Half of a job may get its GPUs and idle while it waits for the other half.
#   closes: [S20, B34]
#   remediation: |
#     Move the label kueue.x-k8s.io/queue-name from the pod templates to the metadata of the job.
package usher.checks.queueing.queue_label_on_pod_template

import data.usher.lib.kueue
import data.usher.lib.text
import data.usher.lib.workload

_group_name := "kueue.x-k8s.io/pod-group-name"

deny contains finding if {
	some pod_set in input.podSets
	queue := pod_set.labels[kueue.queue_label]
	queue != ""
	kueue.queued_as_one
	not kueue.in_queue
	not input.workload.owned
	not pod_set.labels[_group_name]
	not pod_set.annotations[_group_name]

	finding := {
		"path": $"{pod_set.metadataPath}/labels/{kueue.escaped(kueue.queue_label)}",
		"message": $"{workload.pod_set_name(pod_set)}: {kueue.queue_label} {text.excerpt(queue)} on a pod template queues the pods one by one or not at all, never the whole {input.workload.kind}",
		"remedy": $"move the label to {kueue.label_field}",
	}
}
