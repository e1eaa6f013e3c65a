package usher.checks.objects.flavor_topology_without_labels_test

import data.examples.checks.objects.flavor_topology_without_labels as examples
import data.usher.checks.objects.flavor_topology_without_labels as check

found := {{
	"path": "/spec/nodeLabels",
	"message": `the ResourceFlavor has topology "datacenter" but no nodeLabels, so the API server refuses it`,
	"remedy": "set nodeLabels to labels of the flavor's nodes",
}}

test_a_topology_of_all_nodes_is_found if {
	check.deny == found with input as examples.bad_flavor
	check.deny == found with input as examples.bad_flavor_of_v1beta1
	check.deny == found with input as examples.bad_flavor_with_empty_labels
}

test_a_topology_of_some_nodes_is_good if {
	check.deny == set() with input as examples.good_flavor
}

test_without_a_topology_a_flavor_needs_no_labels if {
	check.deny == set() with input as examples.good_flavor_of_all_nodes
	check.deny == set() with input as examples.good_flavor_without_spec
}
