# METADATA
# title: Placement
# description: Where pods may run, and who decides it.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.placement

import data.usher.lib.workload

# METADATA
# title: Whether the pods belong on every node
# description: |
#   As drivers and node agents do: what runs in system namespaces, DaemonSets, and their pods. Anybody can write an owner
#   into a Pod, so on CREATE it counts only if a controller makes the Pod.
belongs_everywhere if input.site.systemNamespace

belongs_everywhere if input.workload.kind == "DaemonSet"

belongs_everywhere if {
	input.workload.owner.kind == "DaemonSet"
	not _owned_by_hand
}

_owned_by_hand if {
	input.review.operation == "CREATE"
	not "controllers" in input.review.by
}

# METADATA
# title: Whether somebody names the node of the pods who is no scheduler
# description: |
#   Controllers may: they make pods of templates, which are judged themselves, and the kubelet makes Pods of what it runs
#   anyway. Of a Pod that the cluster knows already, nobody can tell who chose the node.
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
# description: Without a key it is for all keys. NoExecute alone lets no pod onto a node that NoSchedule guards.
tolerates_everything(toleration) if {
	toleration.operator == "Exists"
	object.get(toleration, "key", "") == ""
	object.get(toleration, "effect", "") in {"", "NoSchedule"}
}

# METADATA
# title: Path of what selects the nodes
# description: The node selector or the affinity, or the pod spec where there are both or neither.
selection_path(pod_set) := workload.field_path(pod_set, "nodeSelector") if {
	pod_set.nodeSelector != {}
	not pod_set.affinity
} else := workload.field_path(pod_set, "affinity") if {
	pod_set.nodeSelector == {}
	pod_set.affinity
} else := pod_set.specPath
