# METADATA
# title: Quota is not reclaimed from workloads of higher priority
# description: |
#   With reclaimWithinCohort Any a ClusterQueue takes the quota that it lent back from whatever runs on it, workloads of
#   higher priority among them: a batch job can end a production job of another team that borrowed. LowerPriority takes
#   it from those of lower priority alone, Never waits. Any is right where lenders must have their quota at once; then
#   whoever borrows should know it.
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
#   why: A batch job can end another team's production job that borrowed quota.
#   closes: [S22]
#   remediation: |
#     Set reclaimWithinCohort to LowerPriority, or tell those who borrow.
package usher.checks.objects.reclaims_from_higher_priority

import data.usher.lib.kueue

deny contains finding if {
	input.object.clusterQueue.spec.preemption.reclaimWithinCohort == "Any"
	kueue.in_cohort

	finding := {
		"path": "/spec/preemption/reclaimWithinCohort",
		"message": "reclaimWithinCohort Any takes lent quota back from workloads of higher priority as well",
		"remedy": "set it to LowerPriority, or tell those who borrow",
	}
}
