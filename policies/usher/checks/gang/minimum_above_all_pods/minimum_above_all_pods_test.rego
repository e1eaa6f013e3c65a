package usher.checks.gang.minimum_above_all_pods_test

import data.examples.checks.gang.minimum_above_all_pods as examples
import data.usher.checks.gang.minimum_above_all_pods as check

found(path, name, minimum, most) := {
	"path": path,
	"message": $"{name} is {minimum}, but there are never more than {most} pods, so no pod ever starts",
	"remedy": $"set it to {most} at most",
}

of_pytorchjob := found("/spec/runPolicy/schedulingPolicy/minAvailable", "minAvailable", 9, 8)

test_more_than_the_replicas_rests_on_an_operator_that_makes_gangs if {
	expected := {object.union(of_pytorchjob, {"assumption": "usher assumes that the operator of PyTorchJobs makes gangs"})}
	check.deny == expected with input as examples.bad_pytorchjob
	routed := object.union(examples.bad_pytorchjob, {"site": {"route": {
		"scheduler": "volcano",
		"schedulerName": "volcano",
		"queue": "research",
	}}})
	check.deny == {of_pytorchjob} with input as routed
}

test_the_replicas_themselves_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_job
}

test_replicas_without_bound_are_enough_for_any if {
	unbounded := json.patch(examples.bad_pytorchjob, [{"op": "remove", "path": "/workload/pods/maximum"}])
	check.deny == set() with input as unbounded
}

test_the_size_of_other_kinds_is_no_minimum_of_theirs if {
	other := object.union(examples.bad_pytorchjob, {"workload": {"group": "leaderworkerset.x-k8s.io"}})
	check.deny == set() with input as other
}

described := object.union(
	json.patch(examples.bad_pytorchjob, [{"op": "remove", "path": "/workload/gangPlaces/minimum"}]),
	{"workload": {"group": "acme.io", "kind": "DistillRun", "gangPlaces": {"ownMinimum": "/spec/minPods"}}},
)

test_a_minimum_of_a_described_kind_counts if {
	expected := found("/spec/minPods", "minPods", 9, 8)
	assumed := {"assumption": "usher assumes that the operator of DistillRuns makes gangs"}
	check.deny == {object.union(expected, assumed)} with input as described
	made := object.union(described, {"workload": {"gang": {"scheduler": "volcano"}}})
	check.deny == {expected} with input as made
	enough := object.union(described, {"workload": {"pods": {"maximum": 9}}})
	check.deny == set() with input as enough
}

test_more_than_all_tasks_have_is_found if {
	check.deny == {found("/spec/minAvailable", "minAvailable", 6, 5)} with input as examples.bad_volcano_job
}

test_more_than_one_task_has_is_found if {
	path := "/spec/jobTemplate/spec/tasks/0/minAvailable"
	check.deny == {found(path, "minAvailable of the task", 5, 4)} with input as examples.bad_volcano_cronjob
	task := "/object/volcanoCronJob/spec/jobTemplate/spec/tasks/0"
	all := json.patch(examples.bad_volcano_cronjob, [{"op": "replace", "path": $"{task}/replicas", "value": 5}])
	check.deny == set() with input as all
	none := json.patch(examples.bad_volcano_cronjob, [{"op": "remove", "path": $"{task}/replicas"}])
	check.deny == {found(path, "minAvailable of the task", 5, 0)} with input as none
}

of_job := found(
	"/metadata/annotations/scheduling.volcano.sh~1group-min-member",
	"scheduling.volcano.sh/group-min-member",
	8,
	4,
)

test_more_than_run_at_a_time_is_found if {
	check.deny == {of_job} with input as examples.bad_job
}

test_without_volcano_the_minimum_has_no_effect if {
	elsewhere := json.patch(examples.bad_job, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": ""}])
	check.deny == set() with input as elsewhere
}

test_an_autoscaler_may_make_more_pods_of_other_kinds if {
	deployment := object.union(examples.bad_job, {"workload": {"group": "apps", "kind": "Deployment"}})
	check.deny == set() with input as deployment
}

test_the_minimum_of_a_job_itself_is_at_most_its_pods if {
	path := "/spec/scheduling/schedulingPolicy/gang/minCount"
	check.deny == {found(path, "minCount", 5, 4)} with input as examples.bad_job_of_kubernetes
	lower := json.patch(examples.bad_job_of_kubernetes, [{"op": "replace", "path": path_in_input, "value": 4}])
	check.deny == set() with input as lower
}

path_in_input := "/object/job/spec/scheduling/schedulingPolicy/gang/minCount"
