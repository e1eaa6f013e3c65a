# METADATA
# title: Only administrators make a namespace with a trusted name
# description: |
#   usher.yaml names namespaces that it trusts: exempt ones (`exemptNamespaces`), those of drivers and node agents
#   (`priorities.systemNamespaces`), those that may see all devices or lock memory (`isolation`), and those whose service
#   accounts are controllers, schedulers or administrators (`identities`). Defaults name the usual namespaces of
#   operators. Where one of them does not exist, any user who may make namespaces could make it and be trusted.
#   The check also accepts controllers and schedulers of usher.yaml, because some operators make namespaces. It judges
#   only new namespaces, and nothing in CI, where the user is unknown.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#automatic-labelling
#     description: Kubernetes on the label with the name, by which webhooks select namespaces
# schemas:
#   - input: schema.input
# custom:
#   code: USH1237
#   about: objects
#   kinds: [namespace]
#   severity: high
#   why: A tenant who takes the name of an operator's namespace escapes every rule.
#   closes: [B30]
#   remediation: |
#     Choose another name, or ask an administrator to make the namespace. usher.yaml lists the users and groups of
#     administrators (identities, administrators).
package usher.checks.tenancy.trusted_namespace_by_tenant

deny contains finding if {
	input.review.operation == "CREATE"
	reason := input.site.nameIsTrusted
	not _may_make_it

	finding := {
		"path": "/metadata/name",
		"message": $"usher.yaml trusts namespaces of this name: {reason}. Only administrators may make one",
		"remedy": "choose another name, or have an administrator make it",
	}
}

_may_make_it if {
	some identity in ["administrators", "controllers", "schedulers"]
	identity in input.review.by
}
