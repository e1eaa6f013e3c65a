# METADATA
# title: Runs of a schedule do not overlap
# description: |
#   With concurrencyPolicy Allow, which is the default of CronJobs, of Argo's CronWorkflows and of Volcano's CronJobs, the
#   next run starts whether or not the one before it has ended. Where GPUs are scarce runs wait for them, and every run
#   that waits is joined by the next: in the end a schedule holds all that becomes free.
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
#   why: Runs that wait for GPUs pile up, and take all that becomes free.
#   remediation: |
#     Set concurrencyPolicy to Forbid, which skips a run while there is another, or to Replace, which ends the older one.
package usher.checks.scaling.overlapping_runs

import data.usher.lib.argo
import data.usher.lib.workload

deny contains finding if {
	_overlap
	not input.workload.owned
	workload.accelerator_pod_sets != []

	finding := {
		"path": "/spec/concurrencyPolicy",
		"message": "concurrencyPolicy is Allow, as it is by default, so runs that wait for accelerators pile up",
		"remedy": "set concurrencyPolicy to Forbid or Replace",
	}
}

_overlap if argo.runs_overlap

# Of these nothing else can be without bound.
_overlap if {
	input.workload.kind == "CronJob"
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum
}
