package usher.checks.tenancy.pod_security_missing_test

import data.examples.checks.tenancy.pod_security_missing as examples
import data.usher.checks.tenancy.pod_security_missing as check

label := "pod-security.kubernetes.io/enforce"

missing := {{
	"path": "/metadata/labels",
	"message": $"the label {label} is missing, so the API server accepts privileged pods in this namespace",
	"remedy": $"set the label {label}: restricted, or baseline",
	"assumption": "usher assumes that the API server enforces no level by default",
}}

test_without_the_label_nothing_is_enforced if {
	check.deny == missing with input as examples.bad_unlabelled
	check.deny == missing with input as examples.bad_only_warned
}

test_the_level_privileged_enforces_nothing if {
	check.deny == {{
		"path": "/metadata/labels/pod-security.kubernetes.io~1enforce",
		"message": $"the label {label} is privileged, so the API server accepts privileged pods in this namespace",
		"remedy": $"set the label {label}: restricted, or baseline",
	}} with input as examples.bad_privileged
}

test_the_other_levels_are_good if {
	check.deny == set() with input as examples.good_restricted
	check.deny == set() with input as examples.good_baseline
}

test_namespaces_of_operators_are_left_out if {
	check.deny == set() with input as examples.good_operator
	check.deny == set() with input as examples.good_agents
}

test_a_namespace_that_gets_its_name_later_is_asked if {
	check.deny == missing with input as examples.bad_generated
}

test_other_objects_are_not_asked if {
	check.deny == set() with input as json.remove(examples.bad_unlabelled, ["/object/namespace"])
}
