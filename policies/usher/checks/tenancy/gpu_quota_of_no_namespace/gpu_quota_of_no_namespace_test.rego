package usher.checks.tenancy.gpu_quota_of_no_namespace_test

import data.examples.checks.tenancy.gpu_quota_of_no_namespace as examples
import data.usher.checks.tenancy.gpu_quota_of_no_namespace as check

found := {{
	"path": "/spec",
	"message": "the quota matches no existing namespace",
	"remedy": "compare its namespaces and namespaceSelector with `kubectl get namespaces --show-labels`",
}}

test_a_pattern_that_no_name_fits_is_found if {
	check.deny == found with input as examples.bad_pattern
}

test_a_label_that_no_namespace_has_is_found if {
	check.deny == found with input as examples.bad_label
}

test_patterns_and_labels_have_to_fit_the_same_namespace if {
	check.deny == found with input as examples.bad_pattern_and_label
}

test_one_namespace_is_enough if {
	check.deny == set() with input as examples.good_quota
	check.unknown == set() with input as examples.good_quota
}

test_without_namespaces_among_the_facts_it_is_unknown if {
	blind := json.patch(examples.bad_label, [{"op": "replace", "path": "/cluster/quotaObject", "value": {}}])
	check.deny == set() with input as blind
	check.unknown == {{
		"path": "/spec",
		"reason": "usher does not know whether the quota matches a namespace: the facts of the cluster contain no namespaces",
	}} with input as blind
}

test_of_a_cluster_that_nobody_knows_nothing_is_said if {
	document := object.remove(examples.good_quota, ["cluster"])
	check.deny == set() with input as document
	check.unknown == set() with input as document
}
