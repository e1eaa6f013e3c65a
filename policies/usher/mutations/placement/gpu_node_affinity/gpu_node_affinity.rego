# METADATA
# title: Keep accelerator pods on accelerator nodes
# description: |
#   Some accelerator pods have a node selector and affinity that also allow other nodes. The webhook binds these pods to
#   the declared node pools on which they fit, by every label that all of these pools have. It adds nothing if the pools
#   have no label in common. A pool must offer every device that the pods ask for, by resource or device class. If usher
#   does not know which pools offer a device class, it adds nothing. It adds nothing either if the pods select devices by
#   a label that no declared pool has. Pools that usher only reads from nodes bind no pods, because an autoscaler may add
#   better ones. usher.yaml can say which pods a pool is for; the webhook binds pods to the pools that are for them. It
#   also binds a gang to one board if usher.yaml says so, and else warns that its boards may differ.
#   Where Kueue places the pods, its flavors select the nodes. A second selection could contradict them, and Kueue would
#   never admit the workload. The webhook also skips pods that name their node, because the kubelet would refuse them if
#   the selection did not match. It skips workloads with the role system, and pods that tolerate no fitting pool because
#   each has a taint that says for whom it is.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
#     description: Kubernetes on node affinity
# schemas:
#   - input: schema.input
# custom:
#   code: USM302
#   order: 60
#   protects_others: true
#   about: accelerator pods
#   promises: [placement/gpu_node_affinity_present]
package usher.mutations.placement.gpu_node_affinity

import data.usher.lib.placement
import data.usher.lib.pools
import data.usher.lib.queueable
import data.usher.lib.workload

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	not _why_not(pod_set)
	fits := pools.fits(pod_set)
	names := {fit.pool | some fit in fits}
	some key, allowed in _values(fits)

	intent := {
		"at": pod_set.path,
		"field": "nodeRequirement",
		"value": {"key": key, "operator": "In", "values": sort(allowed)},
		"reason": $"the pods {_why(pod_set)} on nodes of {concat(" and ", sort(names))}",
	}
}

_why(pod_set) := "belong" if pools.is_narrowed(pod_set)

else := "fit only"

warnings contains {"at": "", "reason": pools.why_different_boards}

# All values that the fitting pools have for each label that all of them have.
_values(fits) := {key: allowed |
	some key, _ in fits[0].labels
	every fit in fits { fit.labels[key] }
	allowed := {value | value := fits[_].labels[key]}
}

# One requirement for each label selects exactly these pools only if all pools have the same labels and differ in at
# most one of them; otherwise it would also allow combinations that are not a pool. That still keeps pods off the pools
# for others.
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

_why_not(pod_set) := reason if reason := placement.why_unmatched(pod_set)

else := "usher.yaml declares no node pool that offers what the pods ask for" if not pod_set.poolsDeclared

else := "it is a part of the system, which runs where its author wants" if input.workload.role == "system"

else := "the pods select devices that no declared node pool has" if pod_set.undeclaredDevices

else := reason if reason := placement.why_pool_unknown(pod_set)

else := "the flavors of its Kueue queue select the nodes" if queueable.places_pods

else := "the pod names its node" if _names_its_node(pod_set)

else := "its node selector and affinity already allow only accelerator nodes" if {
	not false in pod_set.selectsAcceleratorNodes
	not pools.is_narrowed(pod_set)
}

else := _for_others(pod_set) if {
	count(pod_set.fits) == 0
	pod_set.keptOff
}

else := "no declared node pool has what the pod asks for" if count(pod_set.fits) == 0

else := $"{placement.reserving_taint(pod_set)}, which the pod does not tolerate" if placement.kept_for_others(pod_set)

else := "the labels of the pools on which the pod can run do not separate them from other pools" if {
	fits := pools.fits(pod_set)
	not _exact(fits, _values(fits))
	not _keeps_off(pod_set, fits)
}

_keeps_off(pod_set, fits) if {
	pools.is_narrowed(pod_set)
	count(_values(fits)) > 0
}

_for_others(pod_set) := $"the pools with what the pod asks for are for others: {concat("; ", reasons)}" if {
	reasons := [$"{kept.pool}, because {kept.reason}" | some kept in pod_set.keptOff]
}

# The scheduler chose the node of a Pod that already exists in the cluster.
_names_its_node(pod_set) if {
	pod_set.nodeName != ""
	not pod_set.placed
}
