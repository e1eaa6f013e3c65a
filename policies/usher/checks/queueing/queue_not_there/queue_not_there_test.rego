package usher.checks.queueing.queue_not_there_test

import data.examples.checks.queueing.queue_not_there as examples
import data.usher.checks.queueing.queue_not_there as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(queue, namespace, kind, remedy) := {{
	"path": label,
	"message": $`LocalQueue "{queue}" does not exist in namespace {namespace}, so Kueue never starts this {kind}`,
	"remedy": $"{remedy}",
	"missing": {"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": queue},
}}

test_a_queue_that_is_not_there_is_found_with_those_that_are if {
	check.deny == found(
		"reserch",
		"ml-research",
		"Job",
		"name a LocalQueue of the namespace, for example nightly, research-local",
	) with input as examples.bad_job
	check.unknown == set() with input as examples.bad_job
}

test_for_the_name_of_a_cluster_queue_the_local_queue_that_leads_there_is_named if {
	check.deny == found(
		"research-queue",
		"ml-research",
		"PyTorchJob",
		"name LocalQueue research-local, which leads to the ClusterQueue of that name",
	) with input as examples.bad_pytorchjob
}

test_a_namespace_without_any_queue_needs_one if {
	check.deny == found(
		"research-local",
		"sandbox",
		"Pod",
		"have a LocalQueue created in namespace sandbox, which has no LocalQueue",
	) with input as examples.bad_pod_without_queues
}

test_a_queue_that_is_there_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
	check.deny == set() with input as examples.good_pod_by_default
}

test_a_workload_in_no_queue_is_left_alone if {
	check.deny == set() with input as examples.good_pod_without_a_queue
	check.unknown == set() with input as examples.good_pod_without_a_queue
}

test_without_any_queues_among_the_facts_it_is_unknown if {
	document := json.remove(examples.good_job, ["/cluster/kueue/queue/exists"])
	check.deny == set() with input as document
	check.unknown == {{
		"path": label,
		"reason": `usher does not know whether LocalQueue "nightly" exists in namespace ml-research: the facts of the cluster contain no LocalQueues`,
	}} with input as document
}

test_a_kind_that_kueue_leaves_out_waits_in_no_queue if {
	left_out := json.patch(examples.bad_job, [{"op": "add", "path": "/cluster/kueue/frameworks", "value": ["pod"]}])
	check.deny == set() with input as left_out
}
