package usher.checks.gang.routed_to_another_scheduler_test

import data.examples.checks.gang.routed_to_another_scheduler as examples
import data.usher.checks.gang.routed_to_another_scheduler as check

found(scheduler) := {{
	"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/schedulerName",
	"message": $"Worker names the scheduler {scheduler}, but usher.yaml routes PyTorchJobs of this namespace to volcano-gpu",
	"remedy": "remove schedulerName",
}}

test_another_scheduler_is_found_on_templates_with_accelerators if {
	check.deny == found("default-scheduler") with input as examples.bad_pytorchjob
	check.deny == found("kai-scheduler") with input as examples.bad_pytorchjob_on_kai
	check.deny == found("bin-packing") with input as examples.bad_pytorchjob_with_coordinator
}

test_no_scheduler_or_the_one_of_the_route_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_pytorchjob_on_volcano
}

test_of_a_job_on_two_schedulers_another_check_speaks if {
	mixed := json.patch(examples.bad_pytorchjob, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "volcano"}])
	check.deny == set() with input as mixed
}

test_a_job_of_one_pod_is_no_gang if {
	check.deny == set() with input as examples.good_pytorchjob_of_one_pod
}

test_other_namespaces_are_left_alone if {
	check.deny == set() with input as examples.good_pytorchjob_elsewhere
}

test_other_routes_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_pytorchjob, {"site": {"route": {"scheduler": "other"}}})
}

test_the_operator_of_an_mpijob_overwrites_the_name if {
	check.deny == set() with input as examples.good_mpijob
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_pytorchjob, {"workload": {"owned": true}})
}

on_kai(changes) := object.union(
	examples.bad_pytorchjob_with_coordinator,
	object.union({"site": {"route": {"scheduler": "kai", "schedulerName": "kai-scheduler", "queue": "research", "setsMinimum": false}}}, changes),
)

test_a_route_to_kai_is_held_to_as_well if {
	named := {
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/schedulerName",
		"message": "Worker names the scheduler bin-packing, but usher.yaml routes PyTorchJobs of this namespace to kai-scheduler",
		"remedy": "remove schedulerName",
	}
	check.deny == {named} with input as on_kai({})
	mpi := object.union(named, {"message": "Worker names the scheduler bin-packing, but usher.yaml routes MPIJobs of this namespace to kai-scheduler"})
	check.deny == {mpi} with input as on_kai({"workload": {"kind": "MPIJob"}})
}

test_a_kind_that_the_scheduler_does_not_place_as_a_gang_is_not_routed if {
	check.deny == set() with input as on_kai({"workload": {"kind": "PaddleJob"}})
	unplaced := json.remove(examples.bad_pytorchjob, ["/workload/gangPlaces/queue"])
	check.deny == set() with input as unplaced
}

test_the_default_that_the_api_server_writes_does_not_count if {
	defaulted := json.patch(examples.bad_pytorchjob, [{"op": "replace", "path": "/workload/group", "value": "batch"}])
	check.deny == set() with input as defaulted
}
