package usher.checks.gang.volcano_queue_not_a_leaf_test

import data.examples.checks.gang.volcano_queue_not_a_leaf as examples
import data.usher.checks.gang.volcano_queue_not_a_leaf as check

found(path, queue, why) := {
	"path": path,
	"message": $"Volcano queue \"{queue}\" {why}, so it accepts no jobs",
	"remedy": "name a queue without queues below it",
}

test_a_queue_with_others_below_it_is_found if {
	check.deny == {found("/spec/queue", "research", "has other queues below it")} with input as examples.bad_volcano_job
}

test_the_queue_above_all_is_found if {
	expected := {found("/spec/queue", "root", "is the root queue")}
	check.deny == expected with input as examples.bad_volcano_job_in_the_root
}

test_pods_of_other_kinds_wait_where_the_scheduler_knows_of_the_hierarchy if {
	place := "/spec/runPolicy/schedulingPolicy/queue"
	assumed := {"assumption": "usher assumes that the plugin capacity of Volcano's scheduler has enableHierarchy"}
	expected := object.union(found(place, "research", "has other queues below it"), assumed)
	check.deny == {expected} with input as examples.bad_pytorchjob
}

test_a_leaf_is_good if {
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_pytorchjob
}
