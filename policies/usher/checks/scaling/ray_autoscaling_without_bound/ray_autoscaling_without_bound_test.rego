package usher.checks.scaling.ray_autoscaling_without_bound_test

import data.examples.checks.scaling.ray_autoscaling_without_bound as examples
import data.usher.checks.scaling.ray_autoscaling_without_bound as check

unbounded(path, name) := {{
	"path": path,
	"message": $"worker group {name} has no maxReplicas, so Ray's autoscaler may make any number of pods, and each asks for accelerators",
	"remedy": "set maxReplicas of the group",
}}

test_a_group_without_a_bound_is_found_in_every_kind if {
	check.deny == unbounded("/spec/workerGroupSpecs/1", "gpu") with input as examples.bad_raycluster
	check.deny == unbounded("/spec/rayClusterSpec/workerGroupSpecs/0", "gpu") with input as examples.bad_rayjob
}

test_the_number_that_the_api_fills_in_is_no_bound if {
	check.deny == unbounded("/spec/rayClusterConfig/workerGroupSpecs/0", "gpu") with input as examples.bad_rayservice
}

test_a_bound_is_good if {
	check.deny == set() with input as examples.good_raycluster
}

test_without_autoscaling_no_bound_is_needed if {
	check.deny == set() with input as examples.good_rayjob
}

test_the_runs_of_a_ray_cron_job_have_no_bound_to_set if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"kind": "RayCronJob"}})
}

test_kinds_of_others_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_rayjob, {"workload": {"group": "example.com"}})
}

test_workers_without_accelerators_may_be_many if {
	check.deny == set() with input as json.patch(examples.bad_rayjob, [{
		"op": "replace",
		"path": "/podSets/1/asksAccelerators",
		"value": false,
	}])
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_raycluster, {"workload": {"owned": true}})
}
