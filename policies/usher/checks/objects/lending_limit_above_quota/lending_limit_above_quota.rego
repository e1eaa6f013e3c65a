# METADATA
# title: A ClusterQueue does not lend more than its quota
# description: |
#   lendingLimit is the part of nominalQuota that a ClusterQueue lends to its cohort while the quota is idle. Kueue's
#   webhook refuses a value above the quota. A Cohort may lend more than its own quota, because its queues lend to it.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#lendinglimit
#     description: Kueue on the lending limit
# schemas:
#   - input: schema.input
# custom:
#   code: USH1414
#   about: objects
#   kinds: [clusterQueue]
#   severity: high
#   why: Kueue refuses the queue.
#   closes: [S21]
#   remediation: Set lendingLimit to nominalQuota or less. Without it the queue lends all of its quota.
package usher.checks.objects.lending_limit_above_quota

import data.usher.lib.kueue

deny contains finding if {
	some entry in kueue.quotas
	entry.quota.lendingLimit.milli > entry.quota.nominalQuota.milli

	limit := kueue.amount(entry.resource, entry.quota.lendingLimit)
	quota := kueue.amount(entry.resource, entry.quota.nominalQuota)

	finding := {
		"path": $"{entry.path}/lendingLimit",
		"message": $"flavor {entry.flavor}: lendingLimit {limit} of {entry.resource} is more than its nominalQuota {quota}, so Kueue refuses the queue",
		"remedy": $"set it to {quota} or less",
	}
}
