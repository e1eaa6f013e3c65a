# METADATA
# title: Quotas of the namespace leave room for the workload
# description: |
#   ResourceQuotas are counted pod by pod: a job of 64 GPUs is accepted in a namespace that may have 32, makes as many pods
#   as fit, and never the rest. Those of a gang hold nothing, or hold their GPUs and wait for ever. What must start
#   together is compared with each quota that counts the pods: by its scopes, with init containers, sidecars, overhead
#   and the defaults of LimitRanges, as the quota controller counts. Of pods that do not wait for each other each one has
#   to fit. `limits.` of an accelerator counts nothing, and every profile of MIG is a resource of its own.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on ResourceQuotas
# schemas:
#   - input: schema.input
# custom:
#   code: USH1220
#   about: cluster facts
#   severity: high
#   why: The job is accepted, and never runs, however long its author waits.
#   closes: [S28]
#   remediation: |
#     Ask for less, or have the quota raised. Where the namespace has several quotas by PriorityClass, another class may
#     have more room.
package usher.checks.tenancy.quota_never_fits

import data.usher.lib.together

deny contains object.union(finding, together.assumption(shortage)) if {
	some shortage in input.cluster.resourceQuotas.shortages
	shortage.verdict == "never"

	finding := {
		"path": shortage.path,
		"message": $"needs {_needs(shortage)} of {shortage.resource}{together.made_of(shortage)}; ResourceQuota {shortage.quota} never allows more than {_hard(shortage)}",
		"remedy": $"ask for at most {_hard(shortage)} of it together, or have the quota raised",
	}
}

unknown contains {
	"path": "/metadata/namespace",
	"reason": $"{unreadable.of}, {unreadable.field}: {unreadable.reason}; what it says is not compared",
} if {
	some unreadable in input.cluster.resourceQuotas.unreadable
}

unknown contains {
	"path": doubt.path,
	"reason": $"whether ResourceQuota {doubt.quota} counts these pods is not known: its scope asks for what the facts do not tell",
} if {
	some doubt in input.cluster.resourceQuotas.doubts
}

_needs(shortage) := together.shown(shortage.resource, shortage.needs)

_hard(shortage) := together.shown(shortage.resource, shortage.hard)
