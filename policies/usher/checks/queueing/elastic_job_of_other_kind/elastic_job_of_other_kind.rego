# METADATA
# title: Only Jobs and Ray's kinds are elastic jobs
# description: |
#   The annotation kueue.x-k8s.io/elastic-job: "true" lets a queued workload change its number of pods while it runs.
#   Kueue supports this only for Jobs, RayClusters, RayJobs and RayServices. Where the feature is on, Kueue's webhooks
#   refuse the annotation on the other kinds that they know. Elsewhere the annotation has no effect, and Kueue counts
#   the pods only once. The check skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/elastic_workload/
#     description: Kueue on elastic workloads
# schemas:
#   - input: schema.input
# custom:
#   code: USH415
#   about: labelled pods
#   severity: medium
#   why: Kueue refuses the workload, or the workload grows beyond what Kueue counted.
#   closes: [S20]
#   remediation: |
#     Remove the annotation, or use a Job or one of Ray's kinds.
package usher.checks.queueing.elastic_job_of_other_kind

import data.usher.lib.kueue

_elastic := "kueue.x-k8s.io/elastic-job"

deny contains finding if {
	input.workload.annotations[_elastic] == "true"
	not _can_be_elastic
	not input.workload.owned

	finding := {
		"path": $"/metadata/annotations/{kueue.escaped(_elastic)}",
		"message": $"Kueue does not support elastic {input.workload.kind}s, and refuses the annotation {_elastic} where it knows the kind",
		"remedy": "remove it, or use a Job, RayCluster, RayJob or RayService",
	}
}

_can_be_elastic if {
	input.workload.group == "batch"
	input.workload.kind == "Job"
}

_can_be_elastic if {
	input.workload.group == "ray.io"
	input.workload.kind in ["RayCluster", "RayJob", "RayService"]
}
