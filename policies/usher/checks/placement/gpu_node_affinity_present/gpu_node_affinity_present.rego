# METADATA
# title: Accelerator pods select accelerator nodes
# description: |
#   A pod that asks for an accelerator should say on which nodes it may run, by node selector or required node affinity.
#   The request alone lets it run on any node that offers the resource, including a notebook's small GPU or a reserved
#   pool. The terms of required affinity are alternatives, so each term must select accelerator nodes. Preferred
#   affinity selects nothing. The check skips workloads that Kueue places, because the flavors of its queues select the
#   nodes. It also skips pods whose selectors leave no pool; another check finds these. Where nodes of the cluster offer
#   the accelerator, but no declared pool does, any of these nodes may be meant, so the check finds nothing. Elsewhere
#   usher knows only the labels that accelerator nodes usually carry. It then reports only pods where some terms use
#   these labels and other terms do not. Workloads of the system belong on every node. usher.yaml can say which pods a
#   pool is for (`for`): the nodes of a pool for other pods count as nodes without accelerators.
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
#   why: The pods take nodes that are kept for others, or GPUs that do not suit them.
#   closes: [S6]
#   mended_on_pods: true
#   remediation: |
#     Add the labels of a declared node pool to the node selector, or to every term of the required node affinity. Or
#     let the mutation gpu-node-affinity add them.
package usher.checks.placement.gpu_node_affinity_present

import data.usher.lib.kueue
import data.usher.lib.placement
import data.usher.lib.queueable
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some pod_set in _open_pod_sets
	pool := pod_set.fits[0]
	not true in pod_set.selectsAcceleratorNodes

	finding := {
		"path": workload.field_path(pod_set, "nodeSelector"),
		"message": _message(pod_set),
		"remedy": $"select the nodes of {_which(pod_set)} {pool.pool}: {_pairs(pool.labels)}",
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in _open_pod_sets
	terms := pod_set.selectsAcceleratorNodes
	true in terms
	open := count([term | some term in terms; not term])

	finding := {
		"path": _terms_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)}: {open} of {count(terms)} alternative node affinity terms allow nodes without accelerators",
		"remedy": "make every term select accelerator nodes",
	}
}

unknown contains {"path": pod_set.specPath, "reason": reason} if {
	some pod_set in _open_pod_sets
	not pod_set.poolsDeclared
	not true in pod_set.selectsAcceleratorNodes
	reason := _why_unknown(pod_set)
}

unknown contains {"path": pod_set.specPath, "reason": $"{workload.pod_set_name(pod_set)} may run on another pool: {why}"} if {
	some pod_set in workload.accelerator_pod_sets
	why := placement.why_pool_unknown(pod_set)
}

_why_unknown(pod_set) := reason if reason := placement.why_unmatched(pod_set)

else := "usher.yaml declares no node pool that offers what the pods ask for"

_message(pod_set) := $"{workload.pod_set_name(pod_set)} may run on nodes of pool {kept.pool}, but {kept.reason}" if {
	kept := pod_set.keptOff[0]
} else := $"{workload.pod_set_name(pod_set)} selects nodes by {_selection(pod_set)}, but no pool in usher.yaml has these labels, so usher does not know that they are accelerator nodes" if {
	count(pod_set.nodeSelector) > 0
} else := $"{workload.pod_set_name(pod_set)} selects no accelerator nodes by node selector or required node affinity, so any node with its devices may take it"

_open_pod_sets := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	false in pod_set.selectsAcceleratorNodes
	input.workload.role != "system"
	not pod_set.poolsFound
	not pod_set.undeclaredDevices
	not pod_set.undeclaredLabels
	not queueable.places_pods
	not _labelled

	# Knative refuses both fields in its templates; the check judges the pods instead.
	not serving.on_knative
]

# Kueue copies its label to the ReplicaSets of a Deployment, but does not queue them.
_labelled if {
	input.workload.kind == "ReplicaSet"
	input.workload.labels[kueue.queue_label] != ""
}

# Some kinds hold the terms directly, without an affinity field.
_terms_path(pod_set) := pod_set.places.nodeSelectorTerms

_terms_path(pod_set) := $"{workload.field_path(pod_set, "affinity")}/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms" if {
	not pod_set.places.nodeSelectorTerms
}

_which(pod_set) := "pool" if count(pod_set.fits) == 1

_which(pod_set) := "one pool, for example" if count(pod_set.fits) > 1

_pairs(labels) := concat(", ", sort([$"{key}={value}" | some key, value in labels]))

# Users write it, so a message shows a part.
_selection(pod_set) := concat(", ", array.slice(sort([$"{key}={value}" | some key, value in pod_set.nodeSelector]), 0, 3))

_assumption(pod_set) := {} if pod_set.poolsDeclared

_assumption(pod_set) := {"assumption": text} if {
	not pod_set.poolsDeclared
	text := "usher assumes the usual node labels, because usher.yaml declares no node pool that offers what the pods ask for"
}
