package usher.checks.objects.budget_of_all_gpu_servers_test

import data.examples.checks.objects.budget_of_all_gpu_servers as examples
import data.usher.checks.objects.budget_of_all_gpu_servers as check

found(what) := {{
	"path": "/spec/minAvailable",
	"message": $"minAvailable {what} can be drained",
	"remedy": "set maxUnavailable to 1 instead of minAvailable",
}}

test_a_budget_of_all_replicas_is_found if {
	check.deny == found("1 keeps the only pod of Deployment chat, so no eviction is allowed and no node with it") with input as examples.bad_single_replica
	check.deny == found("2 keeps all 2 pods of StatefulSet chat, so no eviction is allowed and no node with them") with input as examples.bad_all_replicas
	check.deny == found("50% keeps the only pod of Deployment chat, so no eviction is allowed and no node with it") with input as examples.bad_half_of_one
}

test_a_budget_with_room_is_good if {
	check.deny == set() with input as examples.good_two_replicas
	check.deny == set() with input as examples.good_one_unavailable
}

test_an_autoscaler_may_make_more_pods if {
	check.deny == set() with input as examples.good_scaled
}

test_servers_without_gpus_are_left_alone if {
	check.deny == set() with input as examples.good_without_gpus
}

test_half_of_two_leaves_room if {
	half := json.patch(examples.good_two_replicas, [{"op": "replace", "path": "/object/disruptionBudget/spec/minAvailable", "value": "50%"}])
	check.deny == set() with input as half
}

test_all_of_any_number_is_found_by_another_check if {
	every_one := json.patch(examples.bad_single_replica, [{"op": "replace", "path": "/object/disruptionBudget/spec/minAvailable", "value": "100%"}])
	check.deny == set() with input as every_one
}

test_system_namespaces_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_single_replica, {"site": {"systemNamespace": true}})
}

test_a_number_as_text_is_no_percentage if {
	text := json.patch(examples.bad_single_replica, [{"op": "replace", "path": "/object/disruptionBudget/spec/minAvailable", "value": "1"}])
	check.deny == set() with input as text
}
