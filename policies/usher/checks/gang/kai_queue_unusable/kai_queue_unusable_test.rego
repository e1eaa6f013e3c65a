package usher.checks.gang.kai_queue_unusable_test

import data.examples.checks.gang.kai_queue_unusable as examples
import data.usher.checks.gang.kai_queue_unusable as check

found(queue, remedy) := {{
	"path": "/metadata/labels/kai.scheduler~1queue",
	"message": $`KAI queue "{queue}" has no parentQueue, so its pods are never placed`,
	"remedy": remedy,
}}

below := "make a queue with this one as its parentQueue, and name that"

test_a_queue_that_holds_no_pods_is_found if {
	check.deny == found("burst", below) with input as examples.bad_pod_at_the_top
	check.deny == found("department", below) with input as examples.bad_pod_in_a_parent
}

test_queues_with_a_parent_and_pods_of_another_scheduler_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_of_a_queue_that_is_not_there
	check.deny == set() with input as examples.good_pod_of_another_scheduler
}
