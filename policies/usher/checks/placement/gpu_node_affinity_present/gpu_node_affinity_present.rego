# METADATA
# title: Accelerator pods select accelerator nodes
# description: |
#   A pod that asks for an accelerator should say on which nodes it may run, by its node selector or by required node
#   affinity: the request alone lets it onto any node that offers the resource, a notebook's small GPU or a reserved
#   pool alike. Terms of required affinity are alternatives, so each of them has to select such nodes; preferred
#   affinity selects nothing. Workloads that Kueue places are left alone, because the flavors of its queues select the
#   nodes; so are pods whose selectors leave no pool at all, which another check finds. Where no declared pool offers the
#   accelerator, nothing is known of such nodes but the labels that they usually carry; then only terms are found of
#   which some use these labels and others do not.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
#     description: Kubernetes on node affinity
# schemas:
#   - input: schema.input
# custom:
#   code: USH302
#   about: accelerator pods
#   severity: medium
#   why: The pods take nodes that are kept for others, or GPUs that are no good for them.
#   closes: [S6]
#   mended_on_pods: true
#   remediation: |
#     Add the labels of a declared node pool to the node selector, or to every term of the required node affinity, or
#     let the mutation gpu-node-affinity do it.
package usher.checks.placement.gpu_node_affinity_present

import data.usher.lib.kueue
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some pod_set in _open_pod_sets
	pool := pod_set.fits[0]
	not true in pod_set.selectsAcceleratorNodes

	finding := {
		"path": workload.field_path(pod_set, "nodeSelector"),
		"message": $"{workload.pod_set_name(pod_set)}: neither node selector nor required node affinity picks accelerator nodes",
		"remedy": $"select the nodes of pool {pool.pool}: {_labels(pool)}",
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in _open_pod_sets
	terms := pod_set.selectsAcceleratorNodes
	true in terms
	open := count([term | some term in terms; not term])

	finding := {
		"path": _terms_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)}: {open} of {count(terms)} OR-ed node affinity terms allow other nodes",
		"remedy": "let every term select accelerator nodes",
	}
}

unknown contains {"path": pod_set.specPath, "reason": "usher.yaml declares no node pool that offers what the pods ask for"} if {
	some pod_set in _open_pod_sets
	not pod_set.poolsDeclared
	not true in pod_set.selectsAcceleratorNodes
}

_open_pod_sets := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	false in pod_set.selectsAcceleratorNodes
	not kueue.places_pods
	not _labelled

	# Which refuses both fields in its templates: there the pods are judged alone.
	not serving.on_knative
]

# Kueue hands its label on to the ReplicaSets of a Deployment, which it does not queue by themselves.
_labelled if {
	input.workload.kind == "ReplicaSet"
	input.workload.labels[kueue.queue_label] != ""
}

# Some kinds have the terms without an affinity around them.
_terms_path(pod_set) := pod_set.places.nodeSelectorTerms

_terms_path(pod_set) := $"{workload.field_path(pod_set, "affinity")}/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms" if {
	not pod_set.places.nodeSelectorTerms
}

_labels(pool) := concat(", ", sort([$"{key}={value}" | some key, value in pool.labels]))

_assumption(pod_set) := {} if pod_set.poolsDeclared

_assumption(pod_set) := {"assumption": text} if {
	not pod_set.poolsDeclared
	text := "usher.yaml declares no node pool that offers what the pods ask for; its nodes carry one of the usual labels"
}
