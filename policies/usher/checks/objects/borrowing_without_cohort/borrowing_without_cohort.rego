# METADATA
# title: Borrowing and lending limits need a cohort
# description: |
#   A ClusterQueue borrows from its cohort and lends to it. A Cohort does the same with its parent. Without a cohort or
#   a parent, borrowingLimit and lendingLimit have no meaning. The API server and Kueue's webhooks refuse the object.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#cohort
#     description: Kueue on cohorts
# schemas:
#   - input: schema.input
# custom:
#   code: USH1406
#   about: objects
#   kinds: [clusterQueue, cohort]
#   severity: high
#   why: Kueue refuses the queue, or its author expects quota that the queue cannot borrow.
#   closes: [S21]
#   remediation: |
#     Name the cohort of the queue (spec.cohortName), or the parent of the Cohort (spec.parentName), or remove the limits.
package usher.checks.objects.borrowing_without_cohort

import data.usher.lib.kueue

deny contains finding if {
	some entry in kueue.quotas
	some limit in ["borrowingLimit", "lendingLimit"]
	amount := kueue.amount(entry.resource, entry.quota[limit])
	not kueue.in_cohort
	not _has_parent

	finding := {
		"path": $"{entry.path}/{limit}",
		"message": $"flavor {entry.flavor} sets {limit} {amount} of {entry.resource} in {_outside}, so Kueue refuses the object",
		"remedy": _remedy,
	}
}

_has_parent if input.object.cohort.spec.parentName != ""

_outside := "a ClusterQueue without a cohort" if input.object.clusterQueue

_outside := "a Cohort without a parent" if input.object.cohort

_remedy := "name the cohort with cohortName, or remove the limit" if input.object.clusterQueue

_remedy := "name the parent with parentName, or remove the limit" if input.object.cohort
