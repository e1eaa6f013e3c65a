# METADATA
# title: Tolerate the taints of accelerator nodes
# description: |
#   Accelerator nodes carry taints that keep other pods off. A pod that asks for an accelerator needs a matching
#   toleration, or it waits forever. If usher.yaml declares node pools, the webhook adds tolerations for the taints of
#   every pool on which the pods can run. If not, it reads the pools from the nodes of the cluster. Where it knows no
#   nodes that fit, it adds a toleration for the usual taint of accelerator nodes, which does no harm where the nodes
#   have no taint. By itself the webhook tolerates only taints that mark accelerators: those with the
#   name of a resource, those of clouds (`sku=gpu`), and those that usher.yaml lists under `accelerators.taints`. Another
#   taint, for example `dedicated=training`, says for whom the nodes are. The webhook tolerates it, with its value, only for
#   pods that the pool is for by `for` in usher.yaml; other pods must tolerate it themselves.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USM301
#   order: 50
#   about: accelerator pods
#   promises: [placement/gpu_toleration_present]
package usher.mutations.placement.gpu_toleration

import data.usher.lib.placement
import data.usher.lib.pools
import data.usher.lib.workload

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	some fit in pools.fits(pod_set)
	not placement.reserved(fit)
	some taint in fit.untolerated

	intent := {
		"at": pod_set.path,
		"field": "toleration",
		"value": _toleration(taint),
		"reason": $"nodes of pool {fit.pool} have the taint {taint.key}",
	}
}

# The API server leaves an empty value out.
_toleration(taint) := {"key": taint.key, "operator": "Equal", "effect": taint.effect} if {
	taint.operator == "Equal"
	taint.value == ""
}

_toleration(taint) := {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect} if {
	taint.operator == "Equal"
	taint.value != ""
}

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	some key in pod_set.assumedTaints

	intent := {
		"at": pod_set.path,
		"field": "toleration",
		"value": {"key": key, "operator": "Exists", "effect": "NoSchedule"},
		"reason": $"nodes with this accelerator usually have the taint {key}",
	}
}

_toleration(taint) := {"key": taint.key, "operator": "Exists", "effect": taint.effect} if taint.operator == "Exists"

skips contains {"at": pod_set.path, "reason": reason} if {
	some pod_set in workload.accelerator_pod_sets
	placement.kept_for_others(pod_set)
	reason := $"{placement.reserving_taint(pod_set)}, which says for whom its nodes are"
}

skips contains {"at": pod_set.path, "reason": "the pod already tolerates the taints of all pools on which it can run"} if {
	some pod_set in workload.accelerator_pod_sets
	count(pod_set.assumedTaints) == 0
	open := [fit | some fit in pools.fits(pod_set); not placement.reserved(fit)]
	count(open) > 0
	every fit in open { count(fit.untolerated) == 0 }
}

skips contains {"at": pod_set.path, "reason": "no declared node pool has what the pod asks for"} if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.poolsDeclared
	count(pod_set.fits) == 0
	not pod_set.keptOff
}

skips contains {"at": pod_set.path, "reason": $"the pools with what the pod asks for are for others: {concat(", ", kept)}"} if {
	some pod_set in workload.accelerator_pod_sets
	count(pod_set.fits) == 0
	count(pod_set.keptOff) > 0
	kept := [each.pool | some each in pod_set.keptOff]
}

skips contains {"at": pod_set.path, "reason": "the pod already tolerates the usual taint, or usher knows no usual taint for these nodes"} if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.poolsDeclared
	not pod_set.poolsFound
	count(pod_set.assumedTaints) == 0
	not pod_set.unmatchedClasses
}

skips contains {"at": pod_set.path, "reason": reason} if {
	some pod_set in workload.accelerator_pod_sets
	reason := placement.why_unmatched(pod_set)
}
