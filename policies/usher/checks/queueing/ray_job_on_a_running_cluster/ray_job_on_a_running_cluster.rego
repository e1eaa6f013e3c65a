# METADATA
# title: A RayJob on a running cluster is not queued
# description: |
#   With clusterSelector a RayJob makes no cluster and runs on one that is there already. Kueue does not manage such a
#   job, whatever queue it names: it starts at once, and only the RayCluster counts, if that is in a queue itself. With a
#   rayClusterSpec beside the selector Kueue's webhook refuses the job.
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
#   why: The job looks queued and waits for nobody.
#   closes: [B35]
#   remediation: |
#     Put the queue label on the RayCluster that the job runs on, and take it off the job; or let the job make a cluster
#     of its own.
package usher.checks.queueing.ray_job_on_a_running_cluster

import data.usher.lib.kueue
import data.usher.lib.text

deny contains finding if {
	kueue.ray_job_selects_its_cluster
	queue := kueue.queue_name

	finding := {
		"path": "/spec/clusterSelector",
		"message": $"the RayJob runs on a cluster that is there already, so Kueue does not queue it in {text.excerpt(queue)}",
		"remedy": "label the RayCluster instead, or give the job a cluster of its own",
	}
}
