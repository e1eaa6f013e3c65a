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

_twice(path, remedy) := {{"path": path, "message": "a change makes all pods a second time and needs room for 4 pods at once, but even empty nodes hold only 2, so it never ends", "remedy": remedy}}

test_kinds_that_make_all_pods_a_second_time_need_room_for_both if {
	check.deny == _twice("/spec", "set upgradeStrategy.type to None, which stops the old cluster first, or keep as many accelerators free") with input as examples.bad_ray_service
	check.deny == _twice("/spec/template", "keep as many accelerators free, or use a Deployment with maxSurge 0") with input as examples.bad_knative_service
	check.deny == _twice("/spec/predictor", "keep as many accelerators free, or use the deployment mode Standard with the strategy Recreate") with input as examples.bad_inference_service
}

test_a_predictor_in_a_deployment_rolls_out_as_one if {
	check.deny == {{"path": "/spec/predictor/deploymentStrategy", "message": "a rollout needs room for 3 pods at once, but even empty nodes hold only 2, so it never ends", "remedy": "set maxSurge 0 and maxUnavailable 1, or the type of deploymentStrategy of the predictor to Recreate", "assumption": "usher assumes that the configuration of KServe sets no other strategy for its Deployments"}} with input as examples.bad_standard_inference_service
	check.deny == set() with input as examples.good_recreated_inference_service
}

test_a_second_revision_with_room_is_good if {
	check.deny == set() with input as examples.good_knative_service_with_room
}

test_a_ray_service_that_stops_the_old_cluster_first_is_good if {
	check.deny == set() with input as examples.good_ray_service_in_place
}

test_more_nodes_may_come_where_nothing_limits_them if {
	unsure := [{"op": "replace", "path": "/cluster/nodes/rollout/sure", "value": false}]
	some finding in check.deny with input as json.patch(examples.bad_deployment, unsure)
	finding.assumption == "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"
}

test_a_rollout_that_keeps_its_old_pods_needs_room_for_both if {
	check.deny == {{"path": "/spec/strategy", "message": "with blueGreen a rollout makes all pods a second time before it stops the old ones, but even empty nodes hold only 2, so it never ends", "remedy": "use canary without blueGreen, with maxSurge 0 and maxUnavailable 1, or keep as many accelerators free"}} with input as examples.bad_blue_green
	canary := json.patch(examples.bad_blue_green, [{"op": "replace", "path": "/object/rollout/spec/strategy", "value": {"canary": {"trafficRouting": {}}}}])
	{finding.remedy | some finding in check.deny} == {"use canary without trafficRouting, with maxSurge 0 and maxUnavailable 1, or keep as many accelerators free"} with input as canary
}
