package usher.checks.placement.workloads_above_all_nodes_test

import data.examples.checks.placement.workloads_above_all_nodes as examples
import data.usher.checks.placement.workloads_above_all_nodes as check

found(names, wanted) := {{
	"path": "",
	"message": $"{names} always run and need room for {wanted} pods with accelerators at once, but even empty nodes hold only 2",
	"remedy": "run fewer of them, add nodes, or let several share a GPU",
}}

test_workloads_that_fit_alone_and_not_together_are_found if {
	check.deny == found("Deployment embed, Deployment ocr and Deployment rank", 3) with input as examples.bad_three_deployments
	check.deny == found("Deployment embed and Deployment rank", 3) with input as examples.bad_two_deployments
}

test_the_message_names_four_of_them if {
	names := "NIMService embed, NIMService ocr, NIMService pages, NIMService rank and 1 more"
	check.deny == found(names, 5) with input as examples.bad_five_services
}

test_room_for_all_is_good if {
	check.deny == set() with input as examples.good_two_deployments
}

test_the_first_object_alone_says_it if {
	check.deny == set() with input as examples.good_second_object
}

test_queued_objects_and_jobs_wait_and_are_good if {
	check.deny == set() with input as examples.good_in_a_queue
	check.deny == set() with input as examples.good_job_that_waits
}

test_more_nodes_may_come_where_nothing_limits_them if {
	unsure := [{"op": "replace", "path": "/cluster/nodes/together/sure", "value": false}]
	some finding in check.deny with input as json.patch(examples.bad_two_deployments, unsure)
	finding.assumption == "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"
}
