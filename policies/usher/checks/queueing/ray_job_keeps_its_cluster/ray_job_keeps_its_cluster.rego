# METADATA
# title: A queued RayJob shuts down its cluster when it finishes
# description: |
#   A RayJob keeps its cluster when the job is done, unless shutdownAfterJobFinishes is true. The cluster then still
#   holds its GPUs and its quota. Kueue's webhook therefore refuses a queued RayJob without this setting. A RayJob with
#   clusterSelector has no cluster of its own, so the check skips it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/rayjobs/
#     description: Kueue on RayJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH413
#   about: objects
#   kinds: [rayJob]
#   severity: high
#   why: Kueue refuses the job, because it would keep its quota after it finishes.
#   closes: [S20]
#   remediation: |
#     Set spec.shutdownAfterJobFinishes to true.
package usher.checks.queueing.ray_job_keeps_its_cluster

import data.usher.lib.kueue
import data.usher.lib.queueable

deny contains finding if {
	queueable.keeps_its_cluster
	kueue.in_queue

	finding := {
		"path": "/spec/shutdownAfterJobFinishes",
		"message": "the RayJob would keep its cluster and its quota after it finishes, so Kueue refuses it in a queue",
		"remedy": "set shutdownAfterJobFinishes: true",
	}
}
