# METADATA
# title: Placement
# description: Where pods may run, and who chooses the node.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.placement

import data.usher.lib.workload

# METADATA
# title: Whether the pods belong on every node
# description: |
#   True for drivers and node agents, which are workloads in system namespaces, DaemonSets and their pods.
belongs_everywhere if input.site.systemNamespace

belongs_everywhere if input.workload.kind == "DaemonSet"

belongs_everywhere if input.workload.owner.kind == "DaemonSet"

# METADATA
# title: Whether a user who is not a scheduler names the node
# description: |
#   Controllers may name nodes. They make pods from templates, which usher judges, and the kubelet makes Pods for what
#   it already runs. The facts do not tell who chose the node of a Pod that already exists in the cluster.
node_is_named(pod_set) if {
	pod_set.nodeName != ""
	not pod_set.placed
	not input.site.systemNamespace
	not _chooses_nodes
}

_chooses_nodes if {
	some identity in ["administrators", "controllers", "schedulers"]
	identity in input.review.by
}

# METADATA
# title: Whether a toleration tolerates every taint that keeps pods off
# description: |
#   A toleration without a key applies to all keys. NoExecute alone does not admit a pod to a node with a NoSchedule
#   taint.
tolerates_everything(toleration) if {
	toleration.operator == "Exists"
	object.get(toleration, "key", "") == ""
	object.get(toleration, "effect", "") in ["", "NoSchedule"]
}

# METADATA
# title: Path of the field that selects the nodes
# description: The node selector or the affinity. The pod spec if the pod has both or neither.
selection_path(pod_set) := workload.field_path(pod_set, "nodeSelector") if {
	count(pod_set.nodeSelector) > 0
	not pod_set.affinity
} else := workload.field_path(pod_set, "affinity") if {
	count(pod_set.nodeSelector) == 0
	pod_set.affinity
} else := pod_set.specPath

# METADATA
# title: Why usher matches no node pool with the pods
# description: |
#   Undefined if usher knows which pools offer the devices. usher never guesses from the name of a device class, because
#   pods that are bound to nodes without their device wait forever.
why_unmatched(pod_set) := $"usher does not know which node pools have devices of class {concat(" and ", classes)}; a pool offers a class if its resources in usher.yaml list {names}" if {
	classes := pod_set.unmatchedClasses
	names := concat(" and ", [$"deviceclass.resource.kubernetes.io/{name}" | some name in classes])
}

# METADATA
# title: Why usher does not know the node pool of the pods
# description: |
#   Undefined if each label that they select names a pool, or may be on the nodes of every pool. usher.yaml need not name
#   all pools, so pods with other labels may run on nodes with another network, another scheduler and other devices.
why_pool_unknown(pod_set) := $"it selects {selected.label}={concat(",", selected.values)}, which no pool of usher.yaml names" if {
	selected := pod_set.undeclaredLabels[0]
}

# METADATA
# title: Whether all pools that fit the pods are kept for others
# description: |
#   Each of these pools has a taint that the pods do not tolerate and that does not mark accelerators, for example
#   `dedicated=training`. It says for whom the nodes are, so the webhook adds no toleration for it.
kept_for_others(pod_set) if {
	count(pod_set.fits) > 0
	every fit in pod_set.fits { reserved(fit) }
}

# METADATA
# title: Whether a pool that fits the pods is kept for others
reserved(fit) if {
	some taint in fit.untolerated
	not taint.operator
}

# METADATA
# title: A taint in a message
# description: Key, value and effect, as kubectl writes them.
taint_text(taint) := $"{taint.key}={taint.value}:{taint.effect}" if taint.value != ""

taint_text(taint) := $"{taint.key}:{taint.effect}" if taint.value == ""

# METADATA
# title: The first taint that keeps a pool for others, in a message
reserving_taint(pod_set) := [$"pool {fit.pool} has the taint {taint_text(taint)}" |
	some fit in pod_set.fits
	some taint in fit.untolerated
	not taint.operator
][0]
