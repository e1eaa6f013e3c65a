package usher.checks.gang.deployment_as_gang_test

import data.examples.checks.gang.deployment_as_gang as examples
import data.usher.checks.gang.deployment_as_gang as check

found(number) := {{
	"path": "/metadata/annotations/scheduling.volcano.sh~1group-min-member",
	"message": $"a rolling update makes a second gang of {number} pods beside the first, and hangs if there is no room for both",
	"remedy": "set strategy.type to Recreate",
}}

changed(path, value) := json.patch(examples.bad_deployment, [{"op": "add", "path": path, "value": value}])

test_a_second_gang_during_a_rollout_is_found if {
	check.deny == found(4) with input as examples.bad_deployment
	check.deny == found(2) with input as examples.bad_deployment_with_surge
	check.deny == found(4) with input as examples.bad_deployment_without_replicas
	check.deny == found(4) with input as changed("/workload/pods", {"minimum": 4})
}

test_a_deployment_that_recreates_its_pods_has_one_gang if {
	check.deny == set() with input as examples.good_deployment_that_recreates
}

test_single_pods_are_no_gang if {
	check.deny == set() with input as examples.good_deployment_of_single_pods
}

test_other_kinds_have_one_gang if {
	check.deny == set() with input as examples.good_statefulset
	check.deny == set() with input as changed("/workload/kind", "ReplicaSet")
}

test_other_schedulers_make_no_gang_of_it if {
	check.deny == set() with input as changed("/podSets/0/schedulerName", "default-scheduler")
}
