# METADATA
# title: Quotas of the namespace have room for the workload now
# description: |
#   Other workloads of the namespace may end soon, and the counts may be out of date by a moment, so the check only
#   warns. It judges only workloads that are new in the cluster. For a running workload, usher does not know which part
#   of the use is its own.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on ResourceQuotas
# schemas:
#   - input: schema.input
# custom:
#   code: USH1222
#   about: cluster facts
#   severity: medium
#   why: The API server refuses its pods until other workloads of the namespace have ended.
#   closes: [S28]
#   remediation: Wait until other workloads have ended, end some of them, or have the quota raised.
package usher.checks.tenancy.quota_full_now

import data.usher.lib.together

deny contains finding if {
	_is_new
	some shortage in input.cluster.resourceQuotas.shortages
	shortage.verdict == "not now"
	resource := shortage.resource

	finding := {
		"path": shortage.path,
		"message": $"the workload needs {together.shown(resource, shortage.needs)} of {resource}{together.made_of(shortage)} at once, but of the {together.shown(resource, shortage.hard)} that ResourceQuota {shortage.quota} allows, {together.shown(resource, shortage.used)} are in use now",
		"remedy": "wait until other workloads of the namespace have ended",
		"assumption": "usher assumes that the use has not changed since the facts were read",
	}
}

# The API server refuses a Pod at once. For objects of a controller, the check reports their owner.
_is_new if {
	input.review.operation == "CREATE"
	_is_judged
}

_is_new if {
	not input.review
	input.cluster.resourceQuotas.exists == false
	_is_judged
}

_is_judged if {
	not input.workload.owned
	input.workload.kind != "Pod"
}
