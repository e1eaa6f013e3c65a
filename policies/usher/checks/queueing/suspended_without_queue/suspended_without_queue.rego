# METADATA
# title: A job that Kueue holds back has a queue
# description: |
#   With manageJobsWithoutQueueName Kueue also suspends jobs that name no queue, and pods get a scheduling gate. A job
#   without a queue gets the LocalQueue `default` of its namespace (LocalQueueDefaulting). In a namespace without a queue
#   of this name the job belongs to no queue, so Kueue never starts it. usher reads Kueue's ConfigMap and the LocalQueues of the
#   namespace. The check skips objects that a controller made, kinds whose integration is not enabled, and namespaces
#   that managedJobsNamespaceSelector leaves out. The finding only warns, because the queue may be made later.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/
#     description: Kueue on its configuration
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/manage/enforce_job_management/setup_default_local_queue/
#     description: Kueue on default queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH1710
#   about: cluster facts
#   severity: high
#   why: The job stays suspended for ever, and no event says why.
#   closes: [S20, B33]
#   remediation: |
#     Set the label kueue.x-k8s.io/queue-name to a LocalQueue of the namespace, or make a LocalQueue named default.
package usher.checks.queueing.suspended_without_queue

import data.usher.lib.kueue

deny contains finding if {
	held := input.cluster.kueue.heldWithoutQueue
	not kueue.left_out
	not input.site.queue

	finding := {
		"path": $"{input.workload.queueLabelPath}/labels",
		"message": $"Kueue holds back workloads without a queue (manageJobsWithoutQueueName), and namespace {input.workload.namespace} has no LocalQueue default, so this {input.workload.kind} never starts",
		"remedy": _remedy(held.queues),
		"assumption": "usher assumes that this LocalQueue is not made later",
	}
}

_remedy(queues) := $"set the label {kueue.queue_label} to a queue of the namespace ({concat(", ", queues)})" if queues != []

_remedy(queues) := "make a LocalQueue in the namespace, and name it in the label kueue.x-k8s.io/queue-name" if queues == []
