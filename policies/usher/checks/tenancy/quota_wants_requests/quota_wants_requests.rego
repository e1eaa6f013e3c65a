# METADATA
# title: Containers set the cpu and memory that a quota of the namespace counts
# description: |
#   If a ResourceQuota counts cpu or memory, every container of every pod that it counts must set the amount: `requests`
#   for cpu, memory, requests.cpu and requests.memory, and `limits` for limits.cpu and limits.memory. The API server
#   refuses all other pods, init containers included. It still accepts the job, the Deployment or the service that makes
#   them. A limit replaces a missing request, and a LimitRange may set defaults. A pod with resources for the whole pod
#   needs nothing more.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#requests-vs-limits
#     description: Kubernetes on quotas for requests and limits
# schemas:
#   - input: schema.input
# custom:
#   code: USH1223
#   about: cluster facts
#   severity: high
#   why: The API server accepts the workload and refuses every pod of it.
#   closes: [S11, S28]
#   remediation: |
#     Set requests and limits for cpu and memory in every container, or make a LimitRange with defaults in the
#     namespace.
package usher.checks.tenancy.quota_wants_requests

deny contains finding if {
	input.cluster.resourceQuotas.defaultsKnown
	some unsaid in input.cluster.resourceQuotas.unsaid

	finding := {
		"path": unsaid.path,
		"message": $"container {unsaid.container} has no {unsaid.what}, which ResourceQuota {unsaid.quota} counts, so the API server refuses the pods",
		"remedy": $"set resources.{unsaid.what} in the container",
	}
}

deny contains finding if {
	not input.cluster.resourceQuotas.defaultsKnown
	not _unread
	some unsaid in input.cluster.resourceQuotas.unsaid

	finding := {
		"path": unsaid.path,
		"message": $"container {unsaid.container} has no {unsaid.what}, which ResourceQuota {unsaid.quota} counts, so the API server refuses the pods",
		"remedy": $"set resources.{unsaid.what} in the container, or a default in a LimitRange of the namespace",
		"assumption": "usher assumes that no LimitRange of the namespace sets it",
	}
}

unknown contains {
	"path": unsaid.path,
	"reason": $"container {unsaid.container} has no {unsaid.what}, which ResourceQuota {unsaid.quota} counts; usher cannot read a LimitRange of the namespace, which may set it",
} if {
	not input.cluster.resourceQuotas.defaultsKnown
	_unread
	some unsaid in input.cluster.resourceQuotas.unsaid
}

_unread if {
	some unreadable in input.cluster.resourceQuotas.unreadable
	startswith(unreadable.of, "LimitRange ")
}
