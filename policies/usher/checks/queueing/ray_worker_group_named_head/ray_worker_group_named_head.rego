# METADATA
# title: No worker group of a queued Ray cluster has the name head
# description: |
#   Kueue names the pod sets of a Ray cluster after its worker groups, and names the pod set of the head node head. A
#   worker group named head has the same name, so Kueue's webhooks refuse it in a queue.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/rayclusters/
#     description: Kueue on RayClusters
# schemas:
#   - input: schema.input
# custom:
#   code: USH427
#   about: objects
#   kinds: [rayCluster, rayJob, rayService]
#   severity: high
#   why: Kueue refuses the cluster when it is created.
#   closes: [S20]
#   remediation: |
#     Give the worker group another name.
package usher.checks.queueing.ray_worker_group_named_head

import data.usher.lib.kueue
import data.usher.lib.queueable

deny contains finding if {
	some index in queueable.groups_named_head
	kueue.in_queue

	finding := {
		"path": $"{kueue.ray_cluster.path}/workerGroupSpecs/{index}/groupName",
		"message": $"worker group {index} of the {input.workload.kind} is named head, like Kueue's pod set for the head node, so Kueue refuses it in a queue",
		"remedy": "give the worker group another name",
	}
}
