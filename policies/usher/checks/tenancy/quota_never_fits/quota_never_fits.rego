# METADATA
# title: Quotas of the namespace leave room for the workload
# description: |
#   ResourceQuotas count pod by pod. The API server accepts a job of 64 GPUs in a namespace with a quota of 32. The job
#   makes as many pods as fit, and never the rest. The pods of a gang then wait forever, with or without GPUs.
#   The check compares the pods that must start together with each quota that counts them. It counts like the quota
#   controller: by scope, with init containers, sidecars, overhead and the defaults of LimitRanges. If pods do not wait
#   for each other, each pod must fit separately. A key `limits.` of an accelerator counts nothing, and every MIG
#   profile is a separate resource.
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
#   why: The API server accepts the job, but the job never runs.
#   closes: [S28]
#   remediation: |
#     Ask for less, or have the quota raised. If the namespace has several quotas by PriorityClass, another class may
#     have more room.
package usher.checks.tenancy.quota_never_fits

import data.usher.lib.together

deny contains object.union(finding, together.assumption(shortage)) if {
	some shortage in input.cluster.resourceQuotas.shortages
	shortage.verdict == "never"

	finding := {
		"path": shortage.path,
		"message": $"the workload needs {_needs(shortage)} of {shortage.resource}{together.made_of(shortage)} at once, but ResourceQuota {shortage.quota} never allows more than {_hard(shortage)}",
		"remedy": $"ask for at most {_hard(shortage)} of {shortage.resource} at once, or have the quota raised",
	}
}

unknown contains {
	"path": "/metadata/namespace",
	"reason": $"usher does not compare {unreadable.field} of {unreadable.of}: {unreadable.reason}",
} if {
	some unreadable in input.cluster.resourceQuotas.unreadable
}

unknown contains {
	"path": doubt.path,
	"reason": $"usher does not know whether ResourceQuota {doubt.quota} counts these pods: the facts of the cluster do not decide its scope",
} if {
	some doubt in input.cluster.resourceQuotas.doubts
}

_needs(shortage) := together.shown(shortage.resource, shortage.needs)

_hard(shortage) := together.shown(shortage.resource, shortage.hard)
