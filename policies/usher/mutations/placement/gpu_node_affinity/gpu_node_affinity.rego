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
package usher.mutations.placement.gpu_node_affinity

import data.usher.lib.kueue
import data.usher.lib.workload

intents contains intent if {
	not kueue.places_pods
	some pod_set in workload.accelerator_pod_sets
	pod_set.poolsDeclared
	pod_set.nodeName == ""
	false in pod_set.selectsAcceleratorNodes
	values := _values(pod_set.fits)
	_exact(pod_set.fits, values)
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
