# METADATA
# title: Only users with a listed identity use accelerators of the namespace
# description: |
#   RBAC decides who may create pods, but not what they ask for. A site can list identities for a namespace. Then only
#   users with one of these identities may create workloads that ask for accelerators. The check judges the user who
#   creates the outermost object, or who changes it into one that asks for accelerators. Objects that a controller makes
#   from it belong to it, and the check skips them.
#   Users and groups come from the API server, so an object cannot claim an identity. In CI and in an audit the user is
#   unknown. Without a list every user may use accelerators.
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
#   why: Without this rule, every user who may create a pod may take a GPU.
#   closes: [S39, B38]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may create these workloads; an empty list allows every user.
#   remediation: |
#     Ask for the identity (usher.yaml, identities), or ask the platform team to allow your identity in usher.yaml
#     (parameters, accelerators-for-named-users-only, identities). Service accounts that create workloads for users need
#     one too.
package usher.checks.tenancy.accelerators_for_named_users_only

import data.usher.lib.parameters

deny contains finding if {
	_is_asked
	_is_new
	not _may_create

	finding := {
		"path": "",
		"message": $"accelerators of this namespace are only for the identities {concat(", ", _identities)}, but the user does not have one of them",
		"remedy": "ask for one of these identities, or remove the accelerators",
	}
}

unknown contains {
	"path": "",
	"reason": $"accelerators of this namespace are only for the identities {concat(", ", _identities)}, and usher does not know which user creates the object",
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
