# METADATA
# title: Runs of a schedule do not overlap
# description: |
#   With concurrencyPolicy Allow, the next run starts even if the last run has not ended. Allow is the default of
#   CronJobs, of Argo's CronWorkflows and of Volcano's CronJobs. If GPUs are scarce, runs wait for them, and more runs
#   join the wait. In the end one schedule takes all GPUs that become free.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#concurrency-policy
#     description: Kubernetes on the concurrency policy
#   - ref: https://argo-workflows.readthedocs.io/en/latest/cron-workflows/
#     description: Argo Workflows on schedules
# schemas:
#   - input: schema.input
# custom:
#   code: USH1103
#   about: accelerator pods
#   severity: medium
#   why: Runs that wait for GPUs pile up and take all GPUs that become free.
#   remediation: |
#     Set concurrencyPolicy to Forbid, which skips a run while another one is active, or to Replace, which ends the
#     older run.
package usher.checks.scaling.overlapping_runs

import data.usher.lib.argo
import data.usher.lib.workload

deny contains finding if {
	_overlap
	not input.workload.owned
	workload.accelerator_pod_sets != []

	finding := {
		"path": "/spec/concurrencyPolicy",
		"message": "concurrencyPolicy is Allow (the default), so runs that wait for accelerators pile up",
		"remedy": "set concurrencyPolicy to Forbid or Replace",
	}
}

_overlap if argo.runs_overlap

# A CronJob has no other source of an unbounded number of pods.
_overlap if {
	input.workload.kind == "CronJob"
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum
}
