# METADATA
# title: The ClusterQueue selects the namespace of the workload
# description: |
#   A ClusterQueue admits workloads only from namespaces that its namespaceSelector matches. Without a selector (null or
#   missing) it matches no namespace and admits nothing; {} matches all namespaces. Kueue's configuration has its own
#   selector, managedJobsNamespaceSelector. In a namespace that this selector excludes, Kueue suspends jobs that name a
#   queue, and never looks at them again. The labels of a namespace may change, so the finding only warns, unless
#   usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#namespace-selector
#     description: Kueue on namespaceSelector
# schemas:
#   - input: schema.input
# custom:
#   code: USH434
#   about: cluster facts
#   severity: medium
#   why: Kueue suspends the workload, and the queue never admits it.
#   closes: [S20, B32]
#   remediation: Have the ClusterQueue select the namespace, or name a queue that selects it.
package usher.checks.queueing.namespace_not_selected

import data.usher.lib.queues

deny contains finding if {
	queues.cluster_queue.selectsNamespace == false

	finding := {
		"path": queues.path,
		"message": $"ClusterQueue {queues.cluster_queue.name} {_selection_problem}, so it never admits {queues.workload_name}",
		"remedy": _remedy,
	}
}

deny contains finding if {
	input.cluster.kueue.managesNamespace == false

	finding := {
		"path": queues.path,
		"message": $"Kueue's managedJobsNamespaceSelector excludes namespace {input.workload.namespace}, so Kueue suspends {queues.workload_name} and never starts it",
		"remedy": "run it in a namespace that Kueue manages, or remove the label",
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"usher does not know whether ClusterQueue {queues.cluster_queue.name} admits from namespace {input.workload.namespace}: the facts of the cluster lack its labels, or usher cannot read the selector",
} if {
	queues.cluster_queue.exists
	not "selectsNamespace" in object.keys(queues.cluster_queue)
}

_selection_problem := "has no namespaceSelector and therefore selects no namespace" if {
	queues.cluster_queue.selector == "null"
} else := $"does not select namespace {input.workload.namespace}"

_remedy := "have the ClusterQueue's namespaceSelector set to {} or to a selector that matches this namespace" if {
	queues.cluster_queue.selector == "null"
} else := "have the labels of the namespace or the ClusterQueue's namespaceSelector changed, or name another LocalQueue"
