package usher.checks.queueing.workload_priority_by_hand_test

import data.examples.checks.queueing.workload_priority_by_hand as examples
import data.usher.checks.queueing.workload_priority_by_hand as check

finding(path, message) := {
	"path": path,
	"message": message,
	"remedy": "remove the Workload, and make a job with a priority class",
}

before_all(path, what) := finding(path, $"the Workload has {what}, so Kueue puts it before all other workloads")

test_a_system_class_and_its_number_are_found if {
	check.deny == {
		before_all("/spec/priorityClassRef/name", `the system class "system-node-critical"`),
		before_all("/spec/priority", "priority 2000001000, more than classes of users may have,"),
	} with input as examples.bad_workload
}

test_a_system_class_in_the_older_version_is_found_without_a_user if {
	check.deny == {before_all(
		"/spec/priorityClassName",
		`the system class "system-cluster-critical"`,
	)} with input as examples.bad_older_workload
	check.deny == set() with input as object.union(examples.bad_older_workload, {"site": {"systemNamespace": true}})
}

test_another_number_of_a_person_is_a_matter_of_rights if {
	found := object.union(
		finding("/spec/priority", "the Workload has priority 100000, which a person set by hand"),
		{"assumption": "usher assumes that this user may not choose the priority of a Workload"},
	)
	check.deny == {found} with input as examples.bad_workload_with_a_number
	check.deny == set() with input as object.union(
		examples.bad_workload_with_a_number,
		{"review": {"by": ["administrators"]}},
	)
	check.deny == set() with input as with_priority(0)
	{entry.assumption | some entry in check.deny} == {found.assumption} with input as with_priority(1000000000)
	{entry.path | some entry in check.deny; not entry.assumption} == {"/spec/priority"} with input as with_priority(1000000001)
}

with_priority(value) := json.patch(
	examples.bad_workload_with_a_number,
	[{"op": "replace", "path": "/object/kueueWorkload/spec/priority", "value": value}],
)

test_what_kueue_copies_is_good if {
	check.deny == set() with input as examples.good_workload
	check.deny == set() with input as examples.good_workload_of_kueue
	check.deny == set() with input as examples.good_workload_with_what_it_had
}

test_a_number_that_the_workload_had_is_good if {
	spec := examples.bad_workload_with_a_number.object.kueueWorkload.spec
	had := {"old": {"object": {"kueueWorkload": {"spec": {"priority": spec.priority}}}}}
	check.deny == set() with input as object.union(examples.bad_workload_with_a_number, had)
}
