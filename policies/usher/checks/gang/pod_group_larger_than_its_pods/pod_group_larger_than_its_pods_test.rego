package usher.checks.gang.pod_group_larger_than_its_pods_test

import data.examples.checks.gang.pod_group_larger_than_its_pods as examples
import data.usher.checks.gang.pod_group_larger_than_its_pods as check

found(minimum, pods, remedy) := {{
	"path": "/spec/minMember",
	"message": $"the group waits for {minimum} pods, but only {pods} beside it, so no pod of the group ever starts",
	"remedy": remedy,
	"assumption": "usher assumes that no other pods name this PodGroup",
}}

test_a_group_that_waits_for_more_pods_than_there_are_is_found if {
	of_two := found(3, "2 pods name it", "set minMember to 2, or make the other pods")
	check.deny == of_two with input as examples.bad_two_of_three
	of_one := found(2, "1 pod names it", "set minMember to 1, or make the other pods")
	check.deny == of_one with input as examples.bad_one_of_two
	check.deny == of_one with input as examples.bad_finished_pod
}

test_as_many_pods_as_it_waits_for_are_good if {
	check.deny == set() with input as examples.good_two_of_two
}

test_a_group_that_a_workload_makes_pods_for_is_left_alone if {
	check.deny == set() with input as examples.good_beside_a_job
}

test_a_group_alone_is_left_alone if {
	check.deny == set() with input as examples.good_alone
}
