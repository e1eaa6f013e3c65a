package usher.checks.objects.cluster_queue_selects_no_namespace_test

import data.examples.checks.objects.cluster_queue_selects_no_namespace as examples
import data.usher.checks.objects.cluster_queue_selects_no_namespace as check

found := {{
	"path": "/spec/namespaceSelector",
	"message": "the ClusterQueue has no namespaceSelector, so it serves no namespace and admits nothing",
	"remedy": "set namespaceSelector; {} selects all namespaces",
}}

test_a_queue_without_a_selector_is_found if {
	check.deny == found with input as examples.bad_queue
	check.deny == found with input as examples.bad_queue_of_v1beta1
	check.deny == found with input as examples.bad_queue_with_null
}

test_a_selector_of_all_or_of_some_is_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_queue_of_some
}
