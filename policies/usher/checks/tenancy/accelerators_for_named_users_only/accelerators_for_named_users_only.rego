# METADATA
# title: Accelerators are for the users that a namespace names
# description: |
#   RBAC knows who may create pods, and nothing of what they ask for. Where a site lists identities for a namespace, only
#   users who have one of them may create what asks for accelerators. Asked is who creates the outermost object, or
#   changes it into one that asks for accelerators: what a controller makes of it is owned by it, and passes. Users and groups come from the API server, so no object can claim
#   an identity. In CI and in an audit it is not known who creates an object. Without a list everybody may.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/access-authn-authz/authentication/
#     description: Kubernetes on users and groups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1206
#   about: accelerator pods
#   severity: high
#   why: Whoever may create a pod may otherwise take a GPU.
#   closes: [S39, B38]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may create such workloads; without any, everybody may.
#   remediation: |
#     Ask for the identity (usher.yaml, identities), or have the platform team allow yours in usher.yaml (parameters,
#     accelerators-for-named-users-only, identities). Service accounts that create workloads for users need one as well.
package usher.checks.tenancy.accelerators_for_named_users_only

import data.usher.lib.parameters

deny contains finding if {
	_is_asked
	_is_new
	not _may_create

	finding := {
		"path": "",
		"message": $"accelerators of this namespace are for {concat(", ", _identities)}, and whoever asks is none of them",
		"remedy": "ask for one of these identities, or leave the accelerators out",
	}
}

unknown contains {
	"path": "",
	"reason": $"accelerators of this namespace are for {concat(", ", _identities)}, and who creates the object is not known here",
} if {
	_is_asked
	not input.review
}

_is_asked if {
	count(_identities) > 0
	not input.workload.owned
	not input.workload.isTemplate
}

_is_new if input.review.operation == "CREATE"

_is_new if {
	input.review.operation == "UPDATE"
	not input.old.asksAccelerators
}

_may_create if {
	some identity in input.review.by
	identity in array.concat(_identities, ["controllers"])
}

_identities := parameters.tenancy.accelerators_for_named_users_only.identities
