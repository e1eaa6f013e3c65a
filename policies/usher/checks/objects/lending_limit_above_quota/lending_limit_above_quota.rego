# METADATA
# title: A ClusterQueue lends no more than it has
# description: |
#   lendingLimit is the part of nominalQuota that a ClusterQueue lends to its cohort while it is idle. It cannot be more
#   than the quota itself; Kueue's webhook refuses it. A Cohort may lend more than its own quota, which is what its
#   queues lend to it.
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
#   why: The queue is refused when it is created.
#   closes: [S21]
#   remediation: |
#     Set lendingLimit to nominalQuota or less; without it, all of the quota is lent.
package usher.checks.objects.lending_limit_above_quota

import data.usher.lib.kueue

deny contains finding if {
	some entry in kueue.quotas
	entry.quota.lendingLimit.milli > entry.quota.nominalQuota.milli

	limit := kueue.amount(entry.resource, entry.quota.lendingLimit)
	quota := kueue.amount(entry.resource, entry.quota.nominalQuota)

	finding := {
		"path": $"{entry.path}/lendingLimit",
		"message": $"flavor {entry.flavor}: lendingLimit {limit} of {entry.resource} is more than its nominalQuota {quota}, so it is refused",
		"remedy": $"set it to {quota} or less",
	}
}
