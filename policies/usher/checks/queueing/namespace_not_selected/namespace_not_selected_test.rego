package usher.checks.queueing.namespace_not_selected_test

import data.examples.checks.queueing.namespace_not_selected as examples
import data.usher.checks.queueing.namespace_not_selected as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(message, remedy) := {{"path": label, "message": $"{message}", "remedy": $"{remedy}"}}

test_a_queue_that_does_not_select_the_namespace_is_found if {
	check.deny == found(
		"ClusterQueue research-queue does not select namespace ml-serving, so it never admits this Job",
		"have the labels of the namespace or the ClusterQueue's namespaceSelector changed, or name another LocalQueue",
	) with input as examples.bad_job
	check.unknown == set() with input as examples.bad_job
}

test_a_queue_without_a_selector_selects_nothing if {
	check.deny == found(
		"ClusterQueue nightly-queue has no namespaceSelector and therefore selects no namespace, so it never admits this PyTorchJob",
		"have the ClusterQueue's namespaceSelector set to {} or to a selector that matches this namespace",
	) with input as examples.bad_pytorchjob
}

test_a_namespace_that_kueue_does_not_manage_is_found if {
	some finding in check.deny with input as examples.bad_pod_of_a_namespace_that_kueue_leaves_out
	finding == {
		"path": label,
		"message": "Kueue's managedJobsNamespaceSelector excludes namespace ml-legacy, so Kueue suspends this Pod and never starts it",
		"remedy": "run it in a namespace that Kueue manages, or remove the label",
	}
}

test_a_namespace_that_is_selected_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_a_workload_in_no_queue_is_left_alone if {
	check.deny == set() with input as examples.good_pod_without_a_queue
	unmanaged := json.patch(
		examples.good_pod_without_a_queue,
		[{"op": "replace", "path": "/cluster/kueue/managesNamespace", "value": false}],
	)
	check.deny == set() with input as unmanaged
}

test_a_cluster_queue_that_is_not_there_is_for_another_check if {
	queue := {"name": "gone-queue", "exists": false}
	document := json.patch(examples.good_job, [{"op": "replace", "path": "/cluster/kueue/queue/clusterQueue", "value": queue}])
	check.deny == set() with input as document
	check.unknown == set() with input as document
}

test_without_the_labels_of_the_namespace_it_is_unknown if {
	document := json.remove(examples.good_job, ["/cluster/kueue/queue/clusterQueue/selectsNamespace"])
	check.deny == set() with input as document
	check.unknown == {{
		"path": label,
		"reason": "usher does not know whether ClusterQueue research-queue admits from namespace ml-research: the facts of the cluster lack its labels, or usher cannot read the selector",
	}} with input as document
}
