# METADATA
# title: A ScaledJob sets maxReplicaCount
# description: |
#   A ScaledJob starts a Job for every piece of work that its triggers count. Without maxReplicaCount, KEDA runs up to
#   100 of them at once. Most clusters have fewer GPUs than that, and the author did not choose this number.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/reference/scaledjob-spec/
#     description: KEDA on ScaledJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1110
#   about: accelerator pods
#   severity: medium
#   why: A long queue starts 100 GPU jobs at once.
#   closes: [S36, B25]
#   remediation: Set `maxReplicaCount` to the number of Jobs that may run at once.
package usher.checks.scaling.scaled_job_without_bound

import data.usher.lib.autoscaling

deny contains finding if {
	spec := input.object.scaledJob.spec
	not spec.maxReplicaCount

	finding := {
		"path": "/spec",
		"message": $"maxReplicaCount is missing, so KEDA may run {autoscaling.default_maximum} Jobs at once, and each asks for accelerators",
		"remedy": "set maxReplicaCount",
	}
}
