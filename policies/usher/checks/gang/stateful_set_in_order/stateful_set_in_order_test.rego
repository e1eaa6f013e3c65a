package usher.checks.gang.stateful_set_in_order_test

import data.examples.checks.gang.stateful_set_in_order as examples
import data.usher.checks.gang.stateful_set_in_order as check

found(number) := {{
	"path": "/spec/podManagementPolicy",
	"message": $"the StatefulSet makes its pods one after the other, but Volcano waits for {number} pods before it places the first one",
	"remedy": "set podManagementPolicy to Parallel",
}}

test_pods_in_order_that_wait_for_each_other_are_found if {
	check.deny == found(4) with input as examples.bad_statefulset
	check.deny == found(2) with input as examples.bad_statefulset_of_two
	check.deny == found(3) with input as examples.bad_statefulset_on_the_routed_scheduler
}

test_pods_that_are_made_at_once_are_good if {
	check.deny == set() with input as examples.good_statefulset
	check.deny == set() with input as examples.good_replicaset
}

test_a_single_pod_does_not_wait if {
	check.deny == set() with input as examples.good_statefulset_of_single_pods
}

test_other_schedulers_do_not_wait if {
	check.deny == set() with input as examples.good_statefulset_on_the_default_scheduler
}
