# METADATA
# title: MultiKueue can send the jobs of its queue to other clusters
# description: |
#   MultiKueue copies a job to another cluster by an adapter for its kind. Kueue rejects a workload of a kind without an
#   adapter: plain Kueue runs a SparkApplication, MultiKueue does not send it. LeaderWorkerSets and RayServices have one
#   since Kueue 0.17, StatefulSets since 0.16, TrainJobs since 0.14. `multiKueue.externalFrameworks` of Kueue's
#   configuration adds kinds with a field `spec.managedBy`.
#   Kueue's webhook gives a job of the queue to MultiKueue, but not a job that names another controller in managedBy.
#   The facts say by the AdmissionChecks of the ClusterQueue whether it belongs to MultiKueue.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/multikueue/
#     description: Kueue on MultiKueue
# schemas:
#   - input: schema.input
# custom:
#   code: USH1620
#   about: cluster facts
#   severity: medium
#   why: Kueue rejects the workload, or it waits in this cluster for quota that no worker uses.
#   closes: [S20]
#   remediation: |
#     Use a kind that MultiKueue sends, or a queue of this cluster. Leave managedBy out, so that Kueue sets it.
package usher.checks.queueing.multikueue_dispatch

import data.usher.lib.kueue
import data.usher.lib.queues
import data.usher.lib.text

deny contains finding if {
	reason := _cluster_queue.notDispatched

	finding := {
		"path": queues.path,
		"message": $"queue {text.excerpt(_queue.name)} sends its workloads to other clusters, and {reason}, so Kueue rejects it",
		"remedy": "use a kind that MultiKueue sends, or a queue of this cluster",
	}
}

deny contains finding if {
	_cluster_queue.multiKueue
	not _cluster_queue.notDispatched
	place := input.workload.lifecycle.managedBy
	manager := input.workload.managedBy
	manager != kueue.multikueue

	finding := {
		"path": place,
		"message": $"queue {text.excerpt(_queue.name)} sends its workloads to other clusters, but {text.excerpt(manager)} manages this {input.workload.kind}, so Kueue rejects it",
		"remedy": "create it without managedBy; Kueue sets the field",
	}
}

_queue := input.cluster.kueue.queue

_cluster_queue := _queue.clusterQueue
