# METADATA
# title: Quotas of the namespace leave room for all pods of the workload
# description: |
#   A service, or a job whose pods do not wait for each other, gets as many pods as its ResourceQuotas allow, and none of
#   the others: they are refused one by one, which shows in events alone. The same goes for what a workload may grow to,
#   by an autoscaler, by a rollout that starts new pods before the old ones go, or by a second run.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on ResourceQuotas
# schemas:
#   - input: schema.input
# custom:
#   code: USH1221
#   about: cluster facts
#   severity: medium
#   why: The workload never has the pods that it was made for, and a rollout may wait for ever.
#   closes: [S28, S36]
#   remediation: |
#     Ask for fewer pods, or for less in each; bound the autoscaler by what the quota allows; or have the quota raised.
package usher.checks.tenancy.quota_below_all_pods

import data.usher.lib.together

deny contains object.union(finding, together.assumption(shortage)) if {
	some shortage in input.cluster.resourceQuotas.shortages
	wants := _wants[shortage.verdict]
	hard := together.shown(shortage.resource, shortage.hard)

	finding := {
		"path": shortage.path,
		"message": $"{wants} {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)}; ResourceQuota {shortage.quota} never allows more than {hard}, so some of its pods are refused",
		"remedy": $"ask for at most {hard} of it together, or have the quota raised",
	}
}

_wants := {
	"not all": "all of its pods take",
	"not largest": "at its largest it takes",
}
