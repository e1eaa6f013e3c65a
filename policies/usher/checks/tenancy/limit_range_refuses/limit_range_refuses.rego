# METADATA
# title: Pods keep within the LimitRanges of their namespace
# description: |
#   A LimitRange bounds what each container, or each pod as a whole, asks for: `min`, `max`, and how many times the
#   request a limit may be. The API server looks at pods alone: a job whose pods go against it is accepted, and makes
#   none. Defaults of the LimitRange are filled in first; one that names a `max` gives that much to every container
#   that says nothing. Where several LimitRanges have different defaults nobody knows which counts, and nothing is said.
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
#   why: The workload is accepted, and every one of its pods is refused.
#   closes: [S28]
#   remediation: Keep requests and limits within the bounds of the LimitRange, or have them changed.
package usher.checks.tenancy.limit_range_refuses

import data.usher.lib.together

deny contains finding if {
	some refusal in input.cluster.resourceQuotas.refusals

	finding := {
		"path": refusal.path,
		"message": $"{_who(refusal)} {_says(refusal)}; LimitRange {refusal.limitRange} {_allows(refusal)}, so none of the pods is accepted",
		"remedy": _remedy(refusal),
	}
}

_who(refusal) := $"container {refusal.container}" if refusal.container

_who(refusal) := "the pod as a whole" if not refusal.container

_says(refusal) := $"has no {refusal.said} of {refusal.resource}" if not refusal.amount

_says(refusal) := $"has a {refusal.said} of {_shown(refusal, refusal.amount)} {refusal.resource}" if {
	refusal.amount
	not refusal.request
}

_says(refusal) := $"has a limit of {_shown(refusal, refusal.amount)} {refusal.resource} for a request of {_shown(refusal, refusal.request)}" if {
	refusal.request
}

_allows(refusal) := $"wants at least {_shown(refusal, refusal.bound)}" if refusal.rule == "min"

_allows(refusal) := $"allows at most {_shown(refusal, refusal.bound)}" if refusal.rule == "max"

_allows(refusal) := $"allows a limit of at most {refusal.bound.text} times the request" if {
	refusal.rule == "maxLimitRequestRatio"
}

_remedy(refusal) := $"set a {refusal.said} of at least {_shown(refusal, refusal.bound)}" if refusal.rule == "min"

_remedy(refusal) := $"set a {refusal.said} of at most {_shown(refusal, refusal.bound)}" if refusal.rule == "max"

_remedy(refusal) := $"set a request and a limit that is at most {refusal.bound.text} times as much" if {
	refusal.rule == "maxLimitRequestRatio"
}

_shown(refusal, amount) := together.shown(refusal.resource, amount)
