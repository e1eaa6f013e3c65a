# METADATA
# title: Queues of the cluster
# description: |
#   The LocalQueue that a workload names or is put into, its ClusterQueue, and whether that could ever admit it, as far as
#   facts of the cluster tell. Kinds that Kueue's configuration leaves out wait in none.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.queues

import data.usher.lib.kueue

# METADATA
# title: The LocalQueue
local_queue := input.cluster.kueue.queue if not kueue.left_out

# METADATA
# title: The ClusterQueue to which it leads
cluster_queue := local_queue.clusterQueue

# METADATA
# title: Whether the ClusterQueue could ever admit the workload
verdict := cluster_queue.verdict

# METADATA
# title: What decides about the queue
# description: The label that names it, or the place where the label would stand.
path := kueue.label_path(kueue.queue_label) if local_queue.byDefault == false

path := input.workload.queueLabelPath if local_queue.byDefault

# METADATA
# title: The workload, as people say it
workload_name := $"this {input.workload.kind}"

# METADATA
# title: What is assumed of Kueue's configuration
# description: To be joined to a finding that rests on what Kueue counts.
assumption := {"assumption": text} if {
	not input.cluster.kueue.configurationKnown
	text := "Kueue counts as it does by default; its ConfigMap kueue-system/kueue-manager-config is not known"
} else := {}

# METADATA
# title: Why Kueue admits nothing through the queue just now
# description: Of the LocalQueue and of its ClusterQueue, each with its kind and name.
held contains object.union({"kind": "LocalQueue"}, local_queue)

held contains object.union({"kind": "ClusterQueue"}, cluster_queue)
