package usher.checks.queueing.pod_group_of_another_workload_test

import data.examples.checks.queueing.pod_group_of_another_workload as examples
import data.usher.checks.queueing.pod_group_of_another_workload as check

found(place, name) := {
	"path": $"/metadata/{place}s/kueue.x-k8s.io~1pod-group-name",
	"message": $"the pod group \"{name}\" has the name that Kueue gives the Workload of another object, and Kueue before 0.18.6 runs the pod with its quota",
	"remedy": "choose another name for the group",
}

test_the_name_of_a_workload_is_found if {
	check.deny == {found("label", "job-train-1a2b3")} with input as examples.bad_job
	check.deny == {found("label", "pytorchjob-bert-0fe12")} with input as examples.bad_pytorchjob
}

test_the_annotation_counts_too if {
	check.deny == {found("annotation", "rayjob-tune-a1b2c")} with input as examples.bad_annotation
}

test_a_date_at_the_end_is_doubt if {
	dated := object.union(found("label", "job-train-20251"), {"assumption": "usher assumes that the name may be a coincidence"})
	check.deny == {dated} with input as examples.bad_date
}

test_names_of_people_are_good if {
	check.deny == set() with input as examples.good_own_name
	check.deny == set() with input as examples.good_short_name
}

test_kueue_names_the_groups_of_a_stateful_set if {
	check.deny == set() with input as examples.good_statefulset
}

test_pods_of_a_controller_are_good if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}

test_only_pods_are_in_groups if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"kind": "Job"}})
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"group": "example.com"}})
}
