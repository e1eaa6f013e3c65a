# METADATA
# title: A ClusterQueue does not reclaim quota from higher priorities
# description: |
#   With reclaimWithinCohort Any, a ClusterQueue takes back lent quota from every workload, also from those with higher
#   priority. A batch job can then stop a production job of another team that borrowed the quota. LowerPriority takes it
#   back only from lower priorities, and Never waits. Any is right if lenders must get their quota at once. Then tell
#   the teams that borrow.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/preemption/
#     description: Kueue on preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH1409
#   about: objects
#   kinds: [clusterQueue]
#   severity: low
#   strict_only: Some queues, for example for emergencies, take quota back on purpose.
#   why: A batch job can stop another team's production job that borrowed quota.
#   closes: [S22]
#   remediation: Set reclaimWithinCohort to LowerPriority, or tell the teams that borrow.
package usher.checks.objects.reclaims_from_higher_priority

import data.usher.lib.kueue

deny contains finding if {
	input.object.clusterQueue.spec.preemption.reclaimWithinCohort == "Any"
	kueue.in_cohort

	finding := {
		"path": "/spec/preemption/reclaimWithinCohort",
		"message": "reclaimWithinCohort Any also takes back lent quota from workloads with higher priority",
		"remedy": "set it to LowerPriority, or tell the teams that borrow",
	}
}
