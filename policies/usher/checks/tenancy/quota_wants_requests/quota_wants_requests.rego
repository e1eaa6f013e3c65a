# METADATA
# title: Containers say what the quotas of their namespace count of cpu and memory
# description: |
#   Where a ResourceQuota counts cpu or memory, every container of every pod that it counts has to say how much it asks
#   for: `requests` for cpu, memory, requests.cpu and requests.memory, `limits` for limits.cpu and limits.memory. The API
#   server refuses all other pods, init containers included; the job, the Deployment or the service that makes them is
#   accepted. A limit stands in for a request, a LimitRange may give defaults, and a pod that says it as a whole needs
#   no more.
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
#   why: The workload is accepted, and every one of its pods is refused.
#   closes: [S11, S28]
#   remediation: Give every container requests and limits for cpu and memory, or give the namespace a LimitRange with defaults.
package usher.checks.tenancy.quota_wants_requests

deny contains finding if {
	input.cluster.resourceQuotas.defaultsKnown
	some unsaid in input.cluster.resourceQuotas.unsaid

	finding := {
		"path": unsaid.path,
		"message": $"container {unsaid.container} has no {unsaid.what}, which ResourceQuota {unsaid.quota} counts, so none of the pods is accepted",
		"remedy": $"set resources.{unsaid.what} in it",
	}
}

unknown contains {
	"path": unsaid.path,
	"reason": $"container {unsaid.container} has no {unsaid.what}, which ResourceQuota {unsaid.quota} counts; whether a LimitRange gives it is not known: {_why}",
} if {
	not input.cluster.resourceQuotas.defaultsKnown
	some unsaid in input.cluster.resourceQuotas.unsaid
}

_why := "a LimitRange of the namespace cannot be read" if _unread

_why := "no LimitRanges are among the facts of the cluster" if not _unread

_unread if {
	some unreadable in input.cluster.resourceQuotas.unreadable
	startswith(unreadable.of, "LimitRange ")
}
