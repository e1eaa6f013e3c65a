package usher.checks.gang.kai_queue_not_there_test

import data.examples.checks.gang.kai_queue_not_there as examples
import data.usher.checks.gang.kai_queue_not_there as check

test_a_queue_that_is_not_there_is_found if {
	check.deny == {{
		"path": "/metadata/labels/kai.scheduler~1queue",
		"message": `KAI queue "reserach" does not exist, so its pods are never placed`,
		"remedy": "create the queue, or name one that `kubectl get queues.scheduling.run.ai` lists",
		"missing": {"group": "scheduling.run.ai", "kind": "Queue", "name": "reserach"},
	}} with input as examples.bad_pod
}

test_a_queue_that_is_there_is_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_of_a_queue_at_the_top
}

test_grove_and_dynamo_take_the_queue_from_an_annotation if {
	some of_grove in check.deny with input as examples.bad_clique_set
	of_grove.path == "/metadata/annotations/kai.scheduler~1queue"
	some of_dynamo in check.deny with input as examples.bad_graph
	of_dynamo.path == "/metadata/annotations/nvidia.com~1kai-scheduler-queue"
}
