# METADATA
# title: Only administrators open a namespace for admin access to devices
# description: |
#   In a namespace with the label resource.kubernetes.io/admin-access: "true", device claims may have adminAccess: they
#   use GPUs that other pods hold. A user who may write namespaces could set the label on their own. Only the identities
#   in usher.yaml under `identities.administrators` may set it; add tools there that apply namespaces for administrators.
#   The check accepts a label that already existed, and its removal. In CI the user who will apply the namespace is
#   unknown.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access
#     description: Kubernetes on admin access to devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH1236
#   about: objects
#   kinds: [namespace]
#   severity: high
#   why: One label opens the GPUs of every other pod to a team.
#   closes: [B11, B14]
#   remediation: |
#     Remove the label, or ask an administrator to set it. usher.yaml lists the users and groups of administrators
#     (identities, administrators).
package usher.checks.tenancy.admin_access_by_tenant

deny contains finding if {
	some label in _opening
	by := input.review.by
	not "administrators" in by

	finding := {
		"path": _path(label),
		"message": $"{label} lets claims of the namespace use devices of other pods, and only administrators may set it",
		"remedy": "remove the label, or have an administrator set it",
	}
}

unknown contains {"path": _path(label), "reason": $"only administrators may set {label}, and usher does not know which user sets it"} if {
	some label in _opening
	not input.review
}

# The API server reads the second one in version 1.33 alone.
_labels := ["resource.kubernetes.io/admin-access", "resource.k8s.io/admin-access"]

_opening := [label |
	input.object.namespace
	some label in _labels
	input.workload.labels[label] == "true"
	not _set_before(label)
]

_set_before(label) if input.old.labels[label] == "true"

_path(label) := $"/metadata/labels/{replace(label, "/", "~1")}"
