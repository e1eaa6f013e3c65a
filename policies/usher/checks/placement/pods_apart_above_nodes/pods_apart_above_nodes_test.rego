package usher.checks.placement.pods_apart_above_nodes_test

import data.examples.checks.placement.pods_apart_above_nodes as examples
import data.usher.checks.placement.pods_apart_above_nodes as check

found(path, message, remedy) := {{
	"path": path,
	"message": message,
	"remedy": remedy,
	"assumption": "usher assumes that no node with another value is added",
}}

test_more_pods_than_nodes_are_found if {
	check.deny == found(
		"/spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0",
		`4 pods must keep apart by the label "kubernetes.io/hostname", and the nodes that could hold them have 2 values, so only 2 can run`,
		"use preferredDuringSchedulingIgnoredDuringExecution, or run fewer pods",
	) with input as examples.bad_anti_affinity
}

empty(values) := found(
	"/spec/template/spec/topologySpreadConstraints/0",
	$`3 pods must keep apart by the label "topology.kubernetes.io/zone", and no node of {values} can hold one, which counts as 0 pods, so only 2 can run`,
	"select the nodes that can hold the pods with nodeSelector, or set whenUnsatisfiable: ScheduleAnyway",
)

test_zones_that_hold_no_pod_are_found if {
	check.deny == empty("c") with input as examples.bad_spread_over_nodes_without_gpus
	many := [{"op": "replace", "path": "/cluster/nodes/apart/0/empty", "value": ["c", "d", "e", "f"]}]
	check.deny == empty("c, d, e and 1 more") with input as json.patch(examples.bad_spread_over_nodes_without_gpus, many)
}

test_more_domains_than_there_are_are_found if {
	check.deny == found(
		"/spec/template/spec/topologySpreadConstraints/0",
		`2 pods must keep apart by the label "topology.kubernetes.io/zone", and minDomains wants 2 values, but the nodes have 1, so only 1 can run`,
		"set whenUnsatisfiable: ScheduleAnyway, or lower minDomains",
	) with input as examples.bad_spread_over_more_domains
}

test_pods_with_room_to_keep_apart_are_good if {
	check.deny == set() with input as examples.good_anti_affinity
	check.deny == set() with input as examples.good_spread_on_selected_nodes
}
