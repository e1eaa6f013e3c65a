# METADATA
# title: Only administrators exempt a namespace
# description: |
#   usher skips a namespace with the label gpu-usher.io/exempt: "true". It neither judges nor changes anything in it. A
#   user who may write namespaces could exempt their own namespace from every rule. usher.yaml lists administrators
#   under `identities.administrators`; add tools there that apply namespaces for administrators. The check accepts an
#   exemption that already existed, and its removal. In CI the user who will apply the namespace is unknown.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-namespaceselector
#     description: Kubernetes on the labels of namespaces by which webhooks are selected
# schemas:
#   - input: schema.input
# custom:
#   code: USH1201
#   about: objects
#   kinds: [namespace]
#   severity: high
#   why: One label exempts a team from every rule.
#   closes: [B30]
#   remediation: |
#     Remove the label, or ask an administrator to set it. usher.yaml lists the users and groups of administrators
#     (identities, administrators).
package usher.checks.tenancy.exemption_by_tenant

_label := "gpu-usher.io/exempt"

deny contains finding if {
	_exempted
	by := input.review.by
	not "administrators" in by

	finding := {
		"path": _path,
		"message": $"{_label} exempts the namespace from every rule, and only administrators may set it",
		"remedy": "remove the label, or have an administrator set it",
	}
}

unknown contains {"path": _path, "reason": $"only administrators may set {_label}, and usher does not know which user sets it"} if {
	_exempted
	not input.review
}

_exempted if {
	input.object.namespace
	input.workload.labels[_label] == "true"
	not _exempted_before
}

_exempted_before if input.old.labels[_label] == "true"

_path := "/metadata/labels/gpu-usher.io~1exempt"
