package usher.checks.queueing.queue_inactive_test

import data.examples.checks.queueing.queue_inactive as examples
import data.usher.checks.queueing.queue_inactive as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found := {{
	"path": label,
	"message": `ClusterQueue nightly-queue is not active (FlavorNotFound: "Can't admit new workloads: references missing ResourceFlavor(s): spot."), so Kueue starts nothing in it`,
	"remedy": "ask the administrator of ClusterQueue nightly-queue to check its condition Active, or name another LocalQueue",
}}

test_what_holds_the_cluster_queue_back_is_found_once if {
	check.deny == found with input as examples.bad_job
	check.deny == found with input as examples.bad_pytorchjob
	check.deny == found with input as examples.bad_pod
}

test_it_may_give_a_reason_alone if {
	document := json.remove(examples.bad_job, ["/cluster/kueue/queue/clusterQueue/message"])
	some finding in check.deny with input as document
	finding.message == "ClusterQueue nightly-queue is not active (FlavorNotFound), so Kueue starts nothing in it"
}

test_an_active_queue_is_good if {
	check.deny == set() with input as examples.good_job
}

test_a_stopped_queue_is_for_another_check if {
	check.deny == set() with input as examples.good_pod_of_a_stopped_queue
}
