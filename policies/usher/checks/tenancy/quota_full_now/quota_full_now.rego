# METADATA
# title: Quotas of the namespace have room for the workload now
# description: |
#   What others of the namespace use may be gone in a minute, and whoever counts may be a moment late, so this only warns.
#   It is told of what is new in the cluster: of what runs already nobody knows how much of the use is its own.
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
#   why: Its pods are refused until others of the namespace are gone.
#   closes: [S28]
#   remediation: Wait until others have ended, end some of them, or have the quota raised.
package usher.checks.tenancy.quota_full_now

import data.usher.lib.together

deny contains finding if {
	_is_new
	some shortage in input.cluster.resourceQuotas.shortages
	shortage.verdict == "not now"
	resource := shortage.resource

	finding := {
		"path": shortage.path,
		"message": $"needs {together.shown(resource, shortage.needs)} of {resource}{together.made_of(shortage)}; of the {together.shown(resource, shortage.hard)} that ResourceQuota {shortage.quota} allows, {together.shown(resource, shortage.used)} are in use now",
		"remedy": "wait until others of the namespace have ended",
		"assumption": "the use of a moment ago is still the same",
	}
}

# A pod is refused at once, and what a controller makes is told of its owner.
_is_new if {
	input.review.operation == "CREATE"
	_speaks_for_itself
}

_is_new if {
	not input.review
	input.cluster.resourceQuotas.exists == false
	_speaks_for_itself
}

_speaks_for_itself if {
	not input.workload.owned
	input.workload.kind != "Pod"
}
