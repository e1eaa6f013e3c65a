package usher.checks.queueing.queue_changed_by_suspending_test

import data.examples.checks.queueing.queue_changed_by_suspending as examples
import data.usher.checks.queueing.queue_changed_by_suspending as check

found(path, kind, queues) := {{
	"path": path,
	"message": $"one change suspends the running {kind} and moves it from queue {queues}",
	"remedy": "delete the job and create it in the other queue, or ask the administrator of the queues",
}}

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

hop := `"research" to "urgent"`

test_suspending_and_moving_at_once_is_found if {
	check.deny == found(label, "RayJob", hop) with input as examples.bad_rayjob
	check.deny == found(label, "JobSet", `"research" to "vision"`) with input as examples.bad_jobset
}

test_leaving_every_queue_is_found if {
	check.deny == found("/metadata/labels", "PyTorchJob", `"research" to no queue`) with input as examples.bad_pytorchjob
	emptied := json.patch(examples.bad_rayjob, [{
		"op": "replace",
		"path": "/workload/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	check.deny == found(label, "RayJob", `"research" to no queue`) with input as emptied
}

test_a_job_that_was_suspended_may_move if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as object.union(examples.bad_rayjob, {"old": {"suspended": true}})
}

test_a_change_of_the_queue_alone_is_for_kueue_to_refuse if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"suspended": false}})
}

test_suspending_alone_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_joining_a_first_queue_is_good if {
	check.deny == set() with input as json.patch(examples.bad_rayjob, [{
		"op": "replace",
		"path": "/old/labels/kueue.x-k8s.io~1queue-name",
		"value": "",
	}])
	check.deny == set() with input as json.patch(examples.bad_rayjob, [{
		"op": "remove",
		"path": "/old/labels/kueue.x-k8s.io~1queue-name",
	}])
}

test_some_identities_may if {
	every identity in ["administrators", "controllers", "queue-operators"] {
		check.deny == set() with input as object.union(examples.bad_rayjob, {"review": {"by": [identity]}})
	}
	check.deny == found(label, "RayJob", hop) with input as object.union(
		examples.bad_rayjob,
		{"review": {"by": ["schedulers"]}},
	)
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"owned": true}})
}

test_other_kinds_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"kind": "RayCronJob"}})
}

test_without_a_parameter_nobody_else_may if {
	undeclared := json.remove(examples.bad_rayjob, ["/site/parameters"])
	check.deny == found(label, "RayJob", hop) with input as undeclared
}

test_a_new_job_has_left_no_queue if {
	check.deny == set() with input as json.remove(examples.bad_rayjob, ["/old"])
}

test_where_nobody_asks_nobody_moved_it if {
	check.deny == set() with input as json.remove(examples.bad_rayjob, ["/review"])
}
