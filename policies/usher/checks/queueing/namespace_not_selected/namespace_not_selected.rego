# METADATA
# title: The queue admits workloads of the namespace
# description: |
#   A ClusterQueue admits only from namespaces that its namespaceSelector takes. Without one (null, or none at all) it takes
#   no namespace, and nothing is ever admitted; {} takes all. Kueue's configuration has a selector of its own
#   (managedJobsNamespaceSelector): jobs of namespaces that it leaves out are suspended as soon as they name a queue, and
#   never looked at again. Labels of a namespace may change, so this only warns, unless usher.yaml says otherwise.
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
#   why: The workload is suspended, and its queue never admits it.
#   closes: [S20, B32]
#   remediation: Have the ClusterQueue select the namespace, or name a queue that does.
package usher.checks.queueing.namespace_not_selected

import data.usher.lib.queues

deny contains finding if {
	queues.cluster_queue.selectsNamespace == false

	finding := {
		"path": queues.path,
		"message": $"ClusterQueue {queues.cluster_queue.name} {_takes}, so it never admits {queues.workload_name}",
		"remedy": _remedy,
	}
}

deny contains finding if {
	input.cluster.kueue.managesNamespace == false

	finding := {
		"path": queues.path,
		"message": $"managedJobsNamespaceSelector of Kueue's configuration leaves namespace {input.workload.namespace} out, so Kueue suspends {queues.workload_name} and never starts it",
		"remedy": "run it in a namespace that Kueue manages, or remove the label",
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"whether ClusterQueue {queues.cluster_queue.name} admits from namespace {input.workload.namespace} is not known: its labels are not among the facts of the cluster, or the selector cannot be read",
} if {
	queues.cluster_queue.exists
	not "selectsNamespace" in object.keys(queues.cluster_queue)
}

_takes := "has no namespaceSelector, which selects no namespace" if {
	queues.cluster_queue.selector == "null"
} else := $"does not select namespace {input.workload.namespace}"

_remedy := "have namespaceSelector: {} set on the ClusterQueue, or a selector that takes this namespace" if {
	queues.cluster_queue.selector == "null"
} else := "have the labels of the namespace or the ClusterQueue's namespaceSelector changed, or name another LocalQueue"
