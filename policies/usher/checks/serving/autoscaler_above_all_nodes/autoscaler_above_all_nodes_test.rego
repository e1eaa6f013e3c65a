package usher.checks.serving.autoscaler_above_all_nodes_test

import data.examples.checks.serving.autoscaler_above_all_nodes as examples
import data.usher.checks.serving.autoscaler_above_all_nodes as check

found(wanted) := {{
	"path": "",
	"message": $"its autoscaler may make {wanted} pods with accelerators, but even empty nodes hold only 2, so the others stay pending",
	"remedy": "lower the maximum of the autoscaler to what the nodes hold, or add nodes",
}}

test_a_maximum_above_what_the_nodes_hold_is_found if {
	check.deny == found(4) with input as examples.bad_knative_service
	check.deny == found(3) with input as examples.bad_ray_cluster
}

test_a_maximum_that_the_nodes_hold_is_good if {
	check.deny == set() with input as examples.good_knative_service
	check.deny == set() with input as examples.good_ray_cluster
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_ray_cluster, owned)
}

test_more_nodes_may_come_where_nothing_limits_them if {
	unsure := [{"op": "replace", "path": "/cluster/nodes/growth/sure", "value": false}]
	some finding in check.deny with input as json.patch(examples.bad_ray_cluster, unsure)
	finding.assumption == "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"
}
