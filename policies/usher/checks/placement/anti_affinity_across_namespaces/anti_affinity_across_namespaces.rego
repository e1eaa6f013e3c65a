# METADATA
# title: Required anti-affinity does not keep pods of other namespaces away
# description: |
#   Required pod anti-affinity works in both directions: while a pod runs, the scheduler places no pod that its term
#   selects in the same domain. A term usually selects pods of its own namespace. With namespaceSelector or namespaces it
#   selects those of other teams, so one small pod can keep a node, a rack or a whole zone free of their jobs.
#
#   A term whose labelSelector also selects pods without labels keeps away everybody, so the check finds it. A term that
#   names certain labels causes a warning at most, because usher cannot tell whose pods have them. JobSet and
#   LeaderWorkerSet give each job a rack of its own by their labels, so the check accepts these. Preferred anti-affinity
#   forbids nothing.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
#     description: Kubernetes on anti-affinity and its namespaces
#   - ref: https://github.com/kubernetes-sigs/jobset/blob/main/pkg/webhooks/pod_mutating_webhook.go
#     description: JobSet on the anti-affinity that it adds
# schemas:
#   - input: schema.input
# custom:
#   code: USH335
#   about: pods
#   severity: high
#   why: One small pod keeps a node, or a whole zone, free of the jobs of all other teams.
#   closes: [B48]
#   remediation: |
#     Remove namespaceSelector and namespaces from the term, so that it selects pods of its own namespace only. To have a
#     node alone, ask for all its GPUs.
package usher.checks.placement.anti_affinity_across_namespaces

import data.usher.lib.text
import data.usher.lib.workload

deny contains object.union(finding, _assumption(term)) if {
	not input.site.systemNamespace
	some pod_set in input.podSets
	some index, term in pod_set.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution
	_leaves_its_namespace(term)
	_selects_pods(term)
	not _is_of_a_controller(term)

	finding := {
		"path": $"{workload.field_path(pod_set, "affinity")}/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/{index}",
		"message": $"{workload.pod_set_name(pod_set)} keeps pods of other namespaces out of its {_domain(term)} by required anti-affinity",
		"remedy": "remove namespaceSelector and namespaces from the term",
	}
}

_domain(term) := text.excerpt(term.topologyKey)

_domain(term) := "domain" if not term.topologyKey

_leaves_its_namespace(term) if term.namespaceSelector

_leaves_its_namespace(term) if {
	some namespace in term.namespaces
	namespace != input.workload.namespace
}

# Without a labelSelector a term selects no pods: GetPodsMatchingLabelSelector of Kubernetes' framework.AffinityTerm.
_selects_pods(term) if term.labelSelector

_assumption(term) := {} if not _names_labels(term)

_assumption(term) := {"assumption": "usher assumes that pods of other teams have the labels that the term selects"} if {
	_names_labels(term)
}

_names_labels(term) if count(term.labelSelector.matchLabels) > 0

_names_labels(term) if {
	some requirement in term.labelSelector.matchExpressions
	requirement.operator in ["Exists", "In"]
}

_is_of_a_controller(term) if {
	some requirement in term.labelSelector.matchExpressions
	requirement.operator in ["Exists", "In"]
	some domain in ["jobset.sigs.k8s.io/", "leaderworkerset.sigs.k8s.io/"]
	startswith(requirement.key, domain)
}
