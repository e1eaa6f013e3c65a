package usher.checks.placement.gang_larger_than_all_nodes_test

import data.examples.checks.placement.gang_larger_than_all_nodes as examples
import data.usher.checks.placement.gang_larger_than_all_nodes as check

found(wanted, most) := {
	"path": "",
	"message": $"{wanted} pods must start together, but even empty nodes hold only {most} of them at once, so they can never all run",
	"remedy": $"start no more than {most} of them together, or make them smaller",
}

test_more_pods_than_nodes_could_hold_are_found if {
	check.deny == {found(4, 3)} with input as examples.bad_pytorchjob
}

test_a_node_holds_whole_pods_alone if {
	check.deny == {found(4, 3)} with input as examples.bad_halves
}

test_pod_sets_share_the_nodes if {
	check.deny == {found(4, 3)} with input as examples.bad_jobset
}

test_nodes_that_nobody_bounds_are_assumed_to_be_all if {
	document := json.patch(examples.bad_pytorchjob, [{"op": "replace", "path": "/cluster/nodes/gang/sure", "value": false}])
	assumption := "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"
	check.deny == {object.union(found(4, 3), {"assumption": assumption})} with input as document
}

test_a_gang_that_fits_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_only_those_that_must_start_together_count if {
	check.deny == set() with input as examples.good_elastic
}

test_nodes_that_a_taint_closes_are_named if {
	closed := object.union(examples.bad_pytorchjob, {"cluster": {"nodes": {"gang": {"left": "nodes like vision-0 by the taint team=vision:NoSchedule"}}}})
	some finding in check.deny with input as closed
	endswith(finding.message, ". They are kept off nodes like vision-0 by the taint team=vision:NoSchedule")
	endswith(finding.remedy, ", or let them run there too")
}
