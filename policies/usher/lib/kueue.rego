# METADATA
# title: Kueue
# description: What a workload says to Kueue, and what Kueue does for it.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.kueue

# METADATA
# title: Label that puts a workload into a LocalQueue of its own namespace
queue_label := "kueue.x-k8s.io/queue-name"

# METADATA
# title: Annotations of a pod template that ask Kueue to place the pods by topology
topology_annotations := {
	"kueue.x-k8s.io/podset-required-topology",
	"kueue.x-k8s.io/podset-preferred-topology",
	"kueue.x-k8s.io/podset-unconstrained-topology",
	"kueue.x-k8s.io/podset-slice-required-topology",
	"kueue.x-k8s.io/podset-slice-required-topology-constraints",
}

# METADATA
# title: Whether the workload names a queue where Kueue reads it
# description: The API and Kueue both take an empty name for none.
in_queue if {
	input.workload.queueLabelPath == "/metadata"
	object.get(input.workload.labels, queue_label, "") != ""
}

in_queue if object.get(input.workload.queueLabels, queue_label, "") != ""

# METADATA
# title: Whether Kueue selects the nodes
# description: A queue's flavors carry node labels, which Kueue adds to the pods when it admits the workload.
places_pods if in_queue

places_pods if {
	input.workload.queueLabelPath
	input.site.queue.placesPods
}

# METADATA
# title: Whether any pod set asks Kueue to place its pods by topology
asks_topology if {
	some pod_set in input.podSets
	some annotation in topology_annotations
	pod_set.annotations[annotation]
}
