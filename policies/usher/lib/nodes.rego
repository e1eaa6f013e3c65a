# METADATA
# title: Nodes
# description: Whether nodes of the cluster could ever hold the pods, as far as the facts of the cluster tell.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.nodes

# METADATA
# title: Facts about nodes for a pod set
# description: Undefined if some node could hold the pods, and if the facts do not tell.
of(pod_set) := input.cluster.nodes.pods[pod_set.path]

# METADATA
# title: Whether no node can ever hold the pods
# description: If true, a check reports what is missing, and guesses from the declared pools add nothing.
never_fits(pod_set) if {
	of(pod_set).verdict == "never"
	not input.cluster.nodePools.autopilot
	not _of_selected_nodes(pod_set)
}

# The pods select nodes that are too small, which selected-nodes-too-small reports, and pools alone are known.
_of_selected_nodes(pod_set) if {
	of(pod_set).poolsAlone
	input.cluster.nodePools.tooSmall[pod_set.path]
}

# METADATA
# title: A missing amount in a message
shortage_text(shortage) := $"one pod asks for {shortage.asked} of {shortage.resource}, and one node has at most {shortage.most}{_beside_daemons(shortage)}" if {
	shortage.most != ""
}

shortage_text(shortage) := $"one pod asks for {shortage.asked} of {shortage.resource}, and no node there offers it" if {
	shortage.most == ""
	not shortage.instead
	not shortage.daemons
}

shortage_text(shortage) := $"one pod asks for {shortage.asked} of {shortage.resource}, and one node has no more of it{_beside_daemons(shortage)}" if {
	shortage.most == ""
	shortage.daemons
}

shortage_text(shortage) := $"one pod asks for {shortage.asked} of {shortage.resource}, and nodes there offer {shortage.instead} in its place" if {
	shortage.most == ""
	shortage.instead
}

_beside_daemons(shortage) := $" beside its DaemonSets, which take {shortage.daemons}" if {
	shortage.daemons
} else := ""

# METADATA
# title: Remedy for pods that ask for more disk than nodes of Karpenter have
larger_disk := "give the nodes a larger disk in their NodeClass (blockDeviceMappings or instanceStorePolicy of an EC2NodeClass), or ask for less ephemeral-storage"
