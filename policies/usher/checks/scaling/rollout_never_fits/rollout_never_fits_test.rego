package usher.checks.scaling.rollout_never_fits_test

import data.examples.checks.scaling.rollout_never_fits as examples
import data.usher.checks.scaling.rollout_never_fits as check

test_a_rollout_without_room_is_found if {
	check.deny == {{"path": "/spec/strategy", "message": "a rollout needs room for 2 pods at once, but even empty nodes hold only 1, so it never ends", "remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate"}} with input as examples.bad_deployment
	check.deny == {{"path": "/spec/strategy", "message": "a rollout needs room for 3 pods at once, but even empty nodes hold only 2, so it never ends", "remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate"}} with input as examples.bad_surge
	check.deny == {{"path": "/spec/strategy", "message": "a rollout needs room for 3 pods at once, but even empty nodes hold only 2, so it never ends", "remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate"}} with input as examples.bad_two_replicas
}

test_room_and_old_pods_that_stop_first_are_good if {
	check.deny == set() with input as examples.good_old_pod_first
	check.deny == set() with input as examples.good_recreated
	check.deny == set() with input as examples.good_room
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_deployment, owned)
}
