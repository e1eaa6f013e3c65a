# METADATA
# title: A queued RayJob gives its cluster back
# description: |
#   A RayJob keeps its cluster when the job is done, unless shutdownAfterJobFinishes is true: the GPUs stay taken, and
#   the quota with them. Kueue's webhook therefore refuses a RayJob in a queue that does not say so. A RayJob with
#   clusterSelector has no cluster of its own to give back.
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
#   why: Kueue refuses the job, because a finished one would keep its quota.
#   closes: [S20]
#   remediation: |
#     Set spec.shutdownAfterJobFinishes to true.
package usher.checks.queueing.ray_job_keeps_its_cluster

import data.usher.lib.kueue

deny contains finding if {
	spec := input.object.rayJob.spec
	not spec.shutdownAfterJobFinishes
	not kueue.ray_job_selects_its_cluster
	kueue.in_queue

	finding := {
		"path": "/spec/shutdownAfterJobFinishes",
		"message": "the RayJob would keep its cluster and its quota when it is done, so Kueue refuses it in a queue",
		"remedy": "set shutdownAfterJobFinishes: true",
	}
}
