# METADATA
# title: Pods keep within the LimitRanges of their namespace
# description: |
#   A LimitRange bounds the requests and limits of each container or of the whole pod: `min`, `max`, and the largest
#   ratio of limit to request. The API server checks only pods, so it accepts a job whose pods break the LimitRange, and
#   then refuses every pod.
#   The API server first fills in the defaults of the LimitRange. A LimitRange with a `max` gives this value to every
#   container without its own. A default limit below the request of a container makes the pod invalid. The check reports nothing if several LimitRanges have different defaults, because the
#   result is unknown.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/limit-range/
#     description: Kubernetes on LimitRanges
# schemas:
#   - input: schema.input
# custom:
#   code: USH1224
#   about: cluster facts
#   severity: high
#   why: The API server accepts the workload and refuses every pod of it.
#   closes: [S28]
#   remediation: Keep requests and limits within the bounds of the LimitRange, or have the bounds changed.
package usher.checks.tenancy.limit_range_refuses

import data.usher.lib.together

deny contains finding if {
	some refusal in input.cluster.resourceQuotas.refusals

	finding := {
		"path": refusal.path,
		"message": $"{_who(refusal)} {_says(refusal)}; LimitRange {refusal.limitRange} {_allows(refusal)}, so the API server refuses the pods",
		"remedy": _remedy(refusal),
	}
}

_who(refusal) := $"container {refusal.container}" if refusal.container

_who(refusal) := "the whole pod" if not refusal.container

_says(refusal) := $"has no {refusal.said} of {refusal.resource}" if not refusal.amount

_says(refusal) := $"has a {refusal.said} of {_shown(refusal, refusal.amount)} {refusal.resource}" if {
	refusal.amount
	not refusal.request
}

_says(refusal) := $"has a limit of {_shown(refusal, refusal.amount)} {refusal.resource} for a request of {_shown(refusal, refusal.request)}" if {
	refusal.request
}

_allows(refusal) := $"gives it a limit of {_shown(refusal, refusal.bound)}" if refusal.rule == "default"

_allows(refusal) := $"requires at least {_shown(refusal, refusal.bound)}" if refusal.rule == "min"

_allows(refusal) := $"allows at most {_shown(refusal, refusal.bound)}" if refusal.rule == "max"

_allows(refusal) := $"allows a limit of at most {refusal.bound.text} times the request" if {
	refusal.rule == "maxLimitRequestRatio"
}

_remedy(refusal) := $"set a limit of at least {_shown(refusal, refusal.amount)} too" if refusal.rule == "default"

_remedy(refusal) := $"set a {refusal.said} of at least {_shown(refusal, refusal.bound)}" if refusal.rule == "min"

_remedy(refusal) := $"set a {refusal.said} of at most {_shown(refusal, refusal.bound)}" if refusal.rule == "max"

_remedy(refusal) := $"set a request and a limit of at most {refusal.bound.text} times the request" if {
	refusal.rule == "maxLimitRequestRatio"
}

_shown(refusal, amount) := together.shown(refusal.resource, amount)
