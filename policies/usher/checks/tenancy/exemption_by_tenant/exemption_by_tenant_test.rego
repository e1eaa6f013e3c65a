package usher.checks.tenancy.exemption_by_tenant_test

import data.examples.checks.tenancy.exemption_by_tenant as examples
import data.usher.checks.tenancy.exemption_by_tenant as check

place := "/metadata/labels/gpu-usher.io~1exempt"

found := {{
	"path": place,
	"message": "gpu-usher.io/exempt exempts the namespace from every rule, and only administrators may set it",
	"remedy": "remove the label, or have an administrator set it",
}}

test_nobody_else_may_exempt_a_namespace if {
	check.deny == found with input as examples.bad_new_namespace
	check.deny == found with input as examples.bad_labelled_later
	check.deny == found with input as examples.bad_switched_on
	check.unknown == set() with input as examples.bad_new_namespace
}

test_administrators_may if {
	check.deny == set() with input as examples.good_by_administrator
	check.deny == set() with input as examples.good_by_tool_of_administrators
}

test_what_was_exempt_before_may_be_changed if {
	check.deny == set() with input as examples.good_exempt_before
	check.unknown == set() with input as examples.good_exempt_before
}

test_another_value_exempts_nothing if {
	check.deny == set() with input as examples.good_not_exempt
	check.unknown == set() with input as examples.good_not_exempt
	check.unknown == set() with input as json.remove(examples.good_not_exempt, ["/review"])
}

test_in_ci_nobody_knows_who_will_apply_it if {
	check.deny == set() with input as examples.unknown_in_ci
	check.unknown == {{
		"path": place,
		"reason": "only administrators may set gpu-usher.io/exempt, and usher does not know which user sets it",
	}} with input as examples.unknown_in_ci
}

test_the_label_exempts_nothing_but_namespaces if {
	pod := json.remove(examples.bad_new_namespace, ["/object/namespace"])
	check.deny == set() with input as pod
}
