package usher.checks.gang.mixed_schedulers_test

import data.examples.checks.gang.mixed_schedulers as examples
import data.usher.checks.gang.mixed_schedulers as check

found(path, name, scheduler, first, of_gang) := {
	"path": $"{path}/schedulerName",
	"message": $"{scheduler} places {name} but {of_gang} places {first}, so no scheduler sees the whole gang",
	"remedy": $"set schedulerName to {of_gang} in every template",
}

leader := "/spec/replicatedJobs/0/template/spec/template/spec"

changed(path, value) := json.patch(examples.bad_jobset, [{"op": "replace", "path": path, "value": value}])

test_a_template_that_names_no_scheduler_goes_to_the_default_one if {
	expected := {found(leader, "leader", "default-scheduler", "workers", "kai-scheduler")}
	check.deny == expected with input as examples.bad_jobset
	check.deny == expected with input as changed("/podSets/0/schedulerName", "default-scheduler")
}

test_an_operator_may_give_it_one if {
	expected := found(
		"/spec/pytorchReplicaSpecs/Master/template/spec",
		"Master",
		"default-scheduler",
		"Worker",
		"kai-scheduler",
	)
	assumption := {"assumption": "usher assumes that the operator leaves templates without schedulerName to the default scheduler"}
	check.deny == {object.union(expected, assumption)} with input as examples.bad_pytorchjob
	named := json.patch(examples.bad_pytorchjob, [
		{"op": "replace", "path": "/podSets/0/schedulerName", "value": "default-scheduler"},
	])
	check.deny == {expected} with input as named
	every group in ["ray.io", "sagemaker.amazonaws.com"] {
		other := object.union(examples.bad_pytorchjob, {"workload": {"group": group}})
		check.deny == {object.union(expected, assumption)} with input as other
	}
}

test_of_a_volcano_job_templates_take_the_scheduler_of_the_job if {
	check.deny == {found(
		"/spec/tasks/0/template/spec",
		"ps",
		"default-scheduler",
		"worker",
		"volcano",
	)} with input as examples.bad_volcano_job
	check.deny == set() with input as examples.good_volcano_job
}

test_volcano_places_the_pods_of_its_own_kinds if {
	empty := json.patch(examples.good_volcano_job, [
		{"op": "replace", "path": "/object/volcanoJob/spec/schedulerName", "value": ""},
		{"op": "replace", "path": "/podSets/0/schedulerName", "value": "volcano"},
	])
	check.deny == set() with input as empty
	flow := json.patch(examples.bad_jobset, [
		{"op": "replace", "path": "/workload/gangNative", "value": true},
		{"op": "replace", "path": "/podSets/1/schedulerName", "value": "volcano"},
	])
	check.deny == set() with input as flow
}

test_one_scheduler_is_good if {
	check.deny == set() with input as changed("/podSets/0/schedulerName", "kai-scheduler")
	check.deny == set() with input as changed("/podSets/1/schedulerName", "")
	check.deny == set() with input as changed("/podSets/1/schedulerName", "default-scheduler")
}

test_templates_without_accelerators_may_differ if {
	check.deny == set() with input as examples.good_mpijob
}

test_pods_that_are_no_gang_may_differ if {
	check.deny == set() with input as examples.good_raycluster_of_two_pools
}

test_of_routed_jobs_another_check_speaks if {
	route := {"scheduler": "volcano", "schedulerName": "volcano", "queue": "research"}
	routed := object.union(examples.bad_pytorchjob, {"site": {"route": route}})
	check.deny == set() with input as routed
	other := object.union(examples.bad_jobset, {"site": {"route": route}})
	count(check.deny) == 1 with input as other
}

test_on_a_route_to_volcano_another_check_speaks if {
	route := {"scheduler": "volcano", "schedulerName": "volcano", "queue": "research", "setsMinimum": false}
	check.deny == set() with input as object.union(examples.bad_pytorchjob, {"site": {"route": route}})
	count(check.deny) == 1 with input as object.union(examples.bad_pytorchjob, {"site": {"route": object.union(route, {"scheduler": "kai"})}})
}
