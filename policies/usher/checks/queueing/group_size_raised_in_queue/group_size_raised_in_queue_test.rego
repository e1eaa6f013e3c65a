package usher.checks.queueing.group_size_raised_in_queue_test

import data.examples.checks.queueing.group_size_raised_in_queue as examples
import data.usher.checks.queueing.group_size_raised_in_queue as check

found(before, after) := {{
	"path": "/spec/leaderWorkerTemplate/size",
	"message": $"the groups of a LeaderWorkerSet in a queue grow from {before} to {after} pods, and Kueue before 0.18.5 does not count the new pods",
	"remedy": "change spec.replicas, or create the LeaderWorkerSet again with the new size",
}}

test_a_larger_group_in_a_queue_is_found if {
	check.deny == found(2, 4) with input as examples.bad_larger
	check.deny == found(1, 2) with input as examples.bad_by_a_service_account
}

test_leaving_the_queue_at_once_is_no_way_around if {
	left := json.patch(examples.bad_larger, [{"op": "remove", "path": "/workload/labels/kueue.x-k8s.io~1queue-name"}])
	check.deny == found(2, 4) with input as left
}

test_a_smaller_group_is_good if {
	check.deny == set() with input as examples.good_smaller
	same := json.patch(examples.bad_larger, [{
		"op": "replace",
		"path": "/object/leaderWorkerSet/spec/leaderWorkerTemplate/size",
		"value": 2,
	}])
	check.deny == set() with input as same
}

test_a_set_outside_of_queues_may_grow if {
	check.deny == set() with input as examples.good_without_a_queue
	emptied := json.patch(examples.bad_larger, [{"op": "replace", "path": "/old/labels/kueue.x-k8s.io~1queue-name", "value": ""}])
	check.deny == set() with input as emptied
}

test_some_identities_may if {
	every identity in ["administrators", "controllers", "queue-operators"] {
		check.deny == set() with input as object.union(examples.bad_larger, {"review": {"by": [identity]}})
			with data.usher.lib.parameters.queueing.group_size_raised_in_queue.identities as ["queue-operators"]
	}
	check.deny == set() with input as object.union(examples.bad_larger, {"workload": {"owned": true}})
}
