# METADATA
# title: A quota with a scope counts only pods
# description: |
#   A scope, for example PriorityClass, selects pods. A quota with a scope can therefore count only pods, their cpu and
#   memory and their extended resources. With BestEffort it cannot count cpu and memory either. The API server refuses
#   the whole quota for one other key: persistentvolumeclaims, requests.storage, services, ephemeral-storage, huge
#   pages.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-scopes
#     description: Kubernetes on the scopes of quotas
# schemas:
#   - input: schema.input
# custom:
#   code: USH1451
#   about: objects
#   kinds: [resourceQuota]
#   severity: high
#   why: The API server refuses the quota, so the namespace has no quota.
#   closes: [S28]
#   aliases: [quota-scope-with-claims]
#   remediation: Move keys that do not count pods into a separate quota without scopes.
package usher.checks.objects.quota_scope_beyond_pods

_of_compute := {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}

# The check does not judge other scopes.
_of_pods := {
	"BestEffort": {"pods"},
	"CrossNamespacePodAffinity": ({"pods"} | _of_compute),
	"NotBestEffort": ({"pods"} | _of_compute),
	"NotTerminating": ({"pods"} | _of_compute),
	"PriorityClass": ({"pods"} | _of_compute),
	"Terminating": ({"pods"} | _of_compute),
}

deny contains finding if {
	some name, _ in input.object.resourceQuota.spec.hard
	not contains(name, "/")
	refusing := sort([scope |
		some scope in _scopes
		counted := _of_pods[scope]
		not name in counted
	])
	first := refusing[0]

	finding := {
		"path": $"/spec/hard/{name}",
		"message": $"a quota with scope {first} cannot count {name}, so the API server refuses the whole quota",
		"remedy": $"move {name} into a quota without scopes",
	}
}

_scopes contains scope if some scope in input.object.resourceQuota.spec.scopes

_scopes contains scope if {
	some requirement in input.object.resourceQuota.spec.scopeSelector.matchExpressions
	scope := requirement.scopeName
}
