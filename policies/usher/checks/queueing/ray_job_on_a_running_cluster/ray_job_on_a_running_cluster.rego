# METADATA
# title: A RayJob on a running cluster is not queued
# description: |
#   With clusterSelector a RayJob does not make a cluster; it runs on an existing cluster. Kueue does not manage this
#   job, whatever queue it names: the job starts at once. Only the RayCluster counts, if it is in a queue itself. If the
#   job also has a rayClusterSpec, Kueue's webhook refuses it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/rayjobs/
#     description: Kueue on RayJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH414
#   about: objects
#   kinds: [rayJob]
#   severity: medium
#   why: The job looks queued, but it does not wait for quota.
#   closes: [B35]
#   remediation: |
#     Put the queue label on the RayCluster that the job uses, and remove it from the job. Or let the job make a cluster
#     of its own.
package usher.checks.queueing.ray_job_on_a_running_cluster

import data.usher.lib.kueue
import data.usher.lib.text

deny contains finding if {
	kueue.ray_job_selects_its_cluster
	queue := kueue.queue_name

	finding := {
		"path": "/spec/clusterSelector",
		"message": $"the RayJob runs on an existing cluster, so Kueue does not queue it in {text.excerpt(queue)}",
		"remedy": "label the RayCluster instead, or give the job a cluster of its own",
	}
}
