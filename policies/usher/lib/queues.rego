# METADATA
# title: Queues of the cluster
# description: |
#   The LocalQueue of a workload, its ClusterQueue, and whether this could ever admit the workload, as far as facts of
#   the cluster tell. Kinds that Kueue's configuration does not enable have no queue.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.queues

import data.usher.lib.kueue

# METADATA
# title: The LocalQueue
local_queue := input.cluster.kueue.queue if not kueue.left_out

# METADATA
# title: The ClusterQueue of the LocalQueue
cluster_queue := local_queue.clusterQueue

# METADATA
# title: Whether the ClusterQueue could ever admit the workload
verdict := cluster_queue.verdict

# METADATA
# title: Path of the label that selects the queue
# description: The path of the label, or its parent if the label is missing.
path := kueue.label_path(kueue.queue_label) if local_queue.byDefault == false

path := input.workload.queueLabelPath if local_queue.byDefault

# METADATA
# title: The workload in a message
workload_name := $"this {input.workload.kind}"

# METADATA
# title: Assumption about Kueue's configuration
# description: Joined to a finding that depends on what Kueue counts.
assumption := {"assumption": text} if {
	not input.cluster.kueue.configurationKnown
	text := "usher assumes that Kueue counts resources by its defaults, because it does not know the ConfigMap kueue-system/kueue-manager-config"
} else := {}

# METADATA
# title: Why Kueue now admits nothing through the queue
# description: For the LocalQueue and for its ClusterQueue, each with its kind and name.
held contains object.union({"kind": "LocalQueue"}, local_queue)

held contains object.union({"kind": "ClusterQueue"}, cluster_queue)
