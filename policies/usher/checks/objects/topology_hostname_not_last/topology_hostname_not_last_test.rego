package usher.checks.objects.topology_hostname_not_last_test

import data.examples.checks.objects.topology_hostname_not_last as examples
import data.usher.checks.objects.topology_hostname_not_last as check

found(index, level, levels) := {{
	"path": $"/spec/levels/{index}/nodeLabel",
	"message": $"kubernetes.io/hostname is level {level} of {levels}, so the API server refuses the Topology",
	"remedy": "put it last, after all larger domains",
}}

test_a_host_above_other_levels_is_found if {
	check.deny == found(0, 1, 3) with input as examples.bad_topology
	check.deny == found(1, 2, 3) with input as examples.bad_topology_of_v1beta1
	check.deny == found(0, 1, 2) with input as examples.bad_topology_of_hosts
}

test_a_host_at_the_end_is_good if {
	check.deny == set() with input as examples.good_topology
	check.deny == set() with input as examples.good_topology_of_one_level
}

test_a_topology_need_not_go_down_to_the_host if {
	check.deny == set() with input as examples.good_topology_of_racks
}
