package usher.checks.queueing.cluster_queue_not_there_test

import data.examples.checks.queueing.cluster_queue_not_there as examples
import data.usher.checks.queueing.cluster_queue_not_there as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(kind) := {{
	"path": label,
	"message": $`LocalQueue nightly leads to ClusterQueue "gone-queue", which does not exist, so Kueue never starts this {kind}`,
	"remedy": "name a queue that leads to a ClusterQueue of `kubectl get clusterqueues`, or have this one created",
	"missing": {"group": "kueue.x-k8s.io", "kind": "ClusterQueue", "name": "gone-queue"},
}}

test_a_cluster_queue_that_is_not_there_is_found if {
	check.deny == found("Job") with input as examples.bad_job
	check.deny == found("PyTorchJob") with input as examples.bad_pytorchjob
	check.deny == found("Pod") with input as examples.bad_pod
	check.unknown == set() with input as examples.bad_job
}

test_one_that_is_there_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_a_workload_in_no_queue_is_left_alone if {
	check.deny == set() with input as examples.good_pod_without_a_queue
	check.unknown == set() with input as examples.good_pod_without_a_queue
}

test_without_any_cluster_queues_among_the_facts_it_is_unknown if {
	queue := "/cluster/kueue/queue/clusterQueue"
	document := json.remove(examples.good_job, [$"{queue}/exists", $"{queue}/verdict"])
	check.deny == set() with input as document
	check.unknown == {{
		"path": label,
		"reason": `usher does not know whether ClusterQueue "research-queue" could ever admit this Job: the facts of the cluster contain no ClusterQueues`,
	}} with input as document
}

test_where_a_verdict_says_why_nobody_knows_that_is_told_once if {
	document := json.remove(examples.good_job, ["/cluster/kueue/queue/clusterQueue/exists"])
	check.unknown == set() with input as document
}
