# METADATA
# title: Nodes
# description: Whether nodes of the cluster could ever hold the pods, where anything is known of them.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.nodes

# METADATA
# title: What is known of nodes for a pod set
# description: Undefined where some node could hold its pods, and where nothing is known.
of(pod_set) := input.cluster.nodes.pods[pod_set.path]

# METADATA
# title: Whether no node can ever hold the pods
# description: Then that is told, with what is missing, and guesses by the declared pools say nothing more.
never_fits(pod_set) if of(pod_set).verdict == "never"
