# METADATA
# title: Only administrators exempt a namespace
# description: |
#   A namespace with the label gpu-usher.io/exempt: "true" is left alone by usher altogether: nothing that it holds is
#   judged or changed. Whoever may write namespaces could take their own out of every rule. Who is an administrator says
#   usher.yaml under `identities.administrators`; tools that apply namespaces for administrators belong there too. An
#   exemption that was there before passes, and so does taking it away. In CI it is not known who will apply the
#   namespace.
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
#   why: One label takes a team out of every rule.
#   closes: [B30]
#   remediation: |
#     Remove the label, or have an administrator set it; whose users and groups are administrators, usher.yaml says
#     (identities, administrators).
package usher.checks.tenancy.exemption_by_tenant

_label := "gpu-usher.io/exempt"

deny contains finding if {
	_exempted
	by := input.review.by
	not "administrators" in by

	finding := {
		"path": _path,
		"message": $"{_label} takes the namespace out of every rule, and only administrators may set it",
		"remedy": "remove the label, or have an administrator set it",
	}
}

unknown contains {"path": _path, "reason": $"{_label} is for administrators to set, and who sets it is not known here"} if {
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
