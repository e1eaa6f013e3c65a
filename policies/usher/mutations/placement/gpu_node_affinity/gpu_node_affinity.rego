# METADATA
# title: Keep accelerator pods on accelerator nodes
# description: |
#   Pods that ask for an accelerator, and whose node selector and affinity would let them run elsewhere too, are bound
#   to the declared node pools on which they fit: by every label that all of these pools have. Pools without a common
#   label bind nothing. Where Kueue places the pods, its flavors select the nodes; a second selection could contradict
#   theirs, and the workload would never be admitted. Pods that name their node are past any selection: the kubelet
#   would turn them away.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
#     description: Kubernetes on node affinity
# schemas:
#   - input: schema.input
# custom:
#   code: USM302
#   order: 60
#   about: accelerator pods
#   promises: [placement/gpu_node_affinity_present]
package usher.mutations.placement.gpu_node_affinity

import data.usher.lib.kueue
import data.usher.lib.workload

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	not _why_not(pod_set)
	values := _values(pod_set.fits)
	pools := {fit.pool | some fit in pod_set.fits}
	some key, allowed in values

	intent := {
		"at": pod_set.path,
		"field": "nodeRequirement",
		"value": {"key": key, "operator": "In", "values": sort(allowed)},
		"reason": $"the nodes that have what the pods ask for are those of {concat(" and ", sort(pools))}",
	}
}

# All values that the fitting pools have for each label.
_values(fits) := {key: allowed |
	some fit in fits
	some key, _ in fit.labels
	allowed := {value | value := fits[_].labels[key]}
}

# One requirement for each label says "these pools and no other node" only if all pools have the same labels and
# differ in one of them at most; else it would allow mixtures that are no pool.
_exact(fits, values) if {
	every fit in fits {
		object.keys(fit.labels) == object.keys(values)
	}
	count([key | some key, allowed in values; count(allowed) > 1]) < 2
}

skips contains {"at": pod_set.path, "reason": reason} if {
	some pod_set in workload.accelerator_pod_sets
	reason := _why_not(pod_set)
}

_why_not(pod_set) := "usher.yaml declares no node pools" if not pod_set.poolsDeclared

else := "the flavors of its Kueue queue select the nodes" if kueue.places_pods

else := "it names its node" if _names_its_node(pod_set)

else := "its selector and affinity allow accelerator nodes only" if not false in pod_set.selectsAcceleratorNodes

else := "no node pool has what it asks for" if count(pod_set.fits) == 0

else := "the pools on which it could run have no labels that tell them from all others" if {
	not _exact(pod_set.fits, _values(pod_set.fits))
}

# The node of a Pod that the cluster knows already was chosen by the scheduler.
_names_its_node(pod_set) if {
	pod_set.nodeName != ""
	not pod_set.placed
}
