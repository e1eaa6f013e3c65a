# METADATA
# title: Quotas of the namespace leave room for all pods of the workload
# description: |
#   A service gets only as many pods as its ResourceQuotas allow, and so does a job whose pods do not wait for each
#   other. The API server refuses all other pods one by one, which only events show. The same holds for the largest size
#   of a workload: by an autoscaler, by a rollout that starts new pods before old ones stop, or by a second run.
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
#   why: The workload never gets all of its pods, and a rollout may wait forever.
#   closes: [S28, S36]
#   remediation: |
#     Ask for fewer pods, or for less in each pod. Or set the maximum of the autoscaler to what the quota allows. Or
#     have the quota raised.
package usher.checks.tenancy.quota_below_all_pods

import data.usher.lib.together

deny contains object.union(finding, together.assumption(shortage)) if {
	some shortage in input.cluster.resourceQuotas.shortages
	wants := _scope[shortage.verdict]
	hard := together.shown(shortage.resource, shortage.hard)

	finding := {
		"path": shortage.path,
		"message": $"{wants} {together.shown(shortage.resource, shortage.needs)} of {shortage.resource}{together.made_of(shortage)}, but ResourceQuota {shortage.quota} never allows more than {hard}, so the API server refuses some of the pods",
		"remedy": $"ask for at most {hard} of {shortage.resource}, or have the quota raised",
	}
}

_scope := {
	"not all": "all pods together need",
	"not largest": "at its largest the workload needs",
}
