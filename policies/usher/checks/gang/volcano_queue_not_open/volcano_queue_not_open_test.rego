package usher.checks.gang.volcano_queue_not_open_test

import data.examples.checks.gang.volcano_queue_not_open as examples
import data.usher.checks.gang.volcano_queue_not_open as check

found(path, queue, state) := {
	"path": path,
	"message": $"Volcano queue \"{queue}\" is \"{state}\", so it accepts no new workloads",
	"remedy": "name a queue that is Open, or have this queue opened",
}

test_a_queue_that_takes_nothing_new_is_found if {
	check.deny == {found("/spec/queue", "research", "Closing")} with input as examples.bad_volcano_job
	place := "/spec/runPolicy/schedulingPolicy/queue"
	check.deny == {found(place, "old", "Closed")} with input as examples.bad_pytorchjob
}

test_a_queue_that_the_operator_may_not_read_is_an_assumption if {
	assumed := {"assumption": "the operator of RayClusters makes gangs on Volcano"}
	place := "/metadata/labels/volcano.sh~1queue-name"
	check.deny == {object.union(found(place, "research", "Closing"), assumed)} with input as examples.bad_raycluster
}

test_an_open_queue_is_good if {
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_raycluster
}

test_a_queue_with_which_something_else_is_wrong_is_for_another_check if {
	document := json.patch(
		examples.bad_volcano_job,
		[{"op": "replace", "path": "/cluster/volcano/queues/0/standing", "value": "not a leaf"}],
	)
	check.deny == set() with input as document
}
