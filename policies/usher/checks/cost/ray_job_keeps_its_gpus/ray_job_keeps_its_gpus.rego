# METADATA
# title: A RayJob frees its accelerators when it finishes
# description: |
#   A RayJob keeps its Ray cluster when the job is done, unless shutdownAfterJobFinishes is true. The cluster then holds
#   its accelerators until somebody deletes it. The check skips a RayJob that runs on an existing cluster
#   (clusterSelector), one with a deletionStrategy or deletionPolicy, and one in a queue of Kueue, about which another
#   check speaks.
# scope: package
# related_resources:
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html
#     description: KubeRay on RayJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1308
#   about: objects
#   kinds: [rayJob]
#   severity: medium
#   why: The GPUs of a finished job idle until somebody deletes its cluster.
#   remediation: |
#     Set spec.shutdownAfterJobFinishes to true, and ttlSecondsAfterFinished if people look at the cluster afterwards.
package usher.checks.cost.ray_job_keeps_its_gpus

import data.usher.lib.kueue
import data.usher.lib.queueable

deny contains finding if {
	input.workload.asksAccelerators
	queueable.keeps_its_cluster
	not kueue.in_queue
	not input.object.rayJob.spec.deletionStrategy
	not input.object.rayJob.spec.deletionPolicy

	finding := {
		"path": "/spec/shutdownAfterJobFinishes",
		"message": "the RayJob keeps its cluster and the accelerators of it after it finishes",
		"remedy": "set shutdownAfterJobFinishes: true",
	}
}
