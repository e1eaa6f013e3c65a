package usher.checks.queueing.workload_priority_boost_test

import data.examples.checks.queueing.workload_priority_boost as examples
import data.usher.checks.queueing.workload_priority_boost as check

found(boost) := {{
	"path": "/metadata/annotations/kueue.x-k8s.io~1priority-boost",
	"message": $"kueue.x-k8s.io/priority-boost {boost} is set by hand and changes the priority of the Workload regardless of its class",
	"remedy": "remove kueue.x-k8s.io/priority-boost, and give the job a priority class",
}}

test_a_boost_that_a_person_gives_is_found if {
	check.deny == found(`"100"`) with input as examples.bad_workload
	check.deny == found(`"1000"`) with input as examples.bad_workload_that_is_new
}

test_a_boost_that_a_person_raises_is_found if {
	check.deny == found(`"200"`) with input as examples.bad_workload_with_more_than_before
}

test_other_changes_of_a_workload_are_good if {
	check.deny == set() with input as examples.good_workload_with_what_it_had
	check.deny == set() with input as examples.good_workload
}

test_some_identities_may if {
	every identity in ["administrators", "controllers", "fairness"] {
		check.deny == set() with input as object.union(examples.bad_workload, {"review": {"by": [identity]}})
	}
	check.deny == found(`"100"`) with input as object.union(examples.bad_workload, {"review": {"by": ["schedulers"]}})
}

test_without_a_parameter_nobody_else_may if {
	check.deny == found(`"100"`) with input as json.remove(examples.bad_workload, ["/site/parameters"])
}

test_where_nobody_asks_a_controller_may_have_set_it if {
	check.deny == set() with input as json.remove(examples.bad_workload, ["/review"])
}
