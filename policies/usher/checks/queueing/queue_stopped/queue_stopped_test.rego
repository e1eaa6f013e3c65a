package usher.checks.queueing.queue_stopped_test

import data.examples.checks.queueing.queue_stopped as examples
import data.usher.checks.queueing.queue_stopped as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(queue, policy, kind) := {{
	"path": label,
	"message": $"{queue} is stopped (stopPolicy {policy}), so Kueue does not start this {kind} until it is resumed",
	"remedy": "ask the administrator of the queue how long it is stopped, or name another LocalQueue",
}}

test_a_stopped_local_queue_is_found if {
	check.deny == found("LocalQueue nightly", "HoldAndDrain", "PyTorchJob") with input as examples.bad_pytorchjob
}

test_a_stopped_cluster_queue_is_found if {
	check.deny == found("ClusterQueue old-queue", "Hold", "Job") with input as examples.bad_job
	check.deny == found("ClusterQueue old-queue", "Hold", "Pod") with input as examples.bad_pod
}

test_a_queue_that_is_not_stopped_is_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_pod
}
