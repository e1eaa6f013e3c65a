package usher.checks.tenancy.admin_access_by_tenant_test

import data.examples.checks.tenancy.admin_access_by_tenant as examples
import data.usher.checks.tenancy.admin_access_by_tenant as check

found(label) := {{
	"path": $"/metadata/labels/{replace(label, "/", "~1")}",
	"message": $"{label} lets claims of the namespace use devices of other pods, and only administrators may set it",
	"remedy": "remove the label, or have an administrator set it",
}}

label := "resource.kubernetes.io/admin-access"

test_no_other_user_may_set_the_label if {
	check.deny == found(label) with input as examples.bad_new_namespace
	check.deny == found(label) with input as examples.bad_labelled_later
	check.deny == found("resource.k8s.io/admin-access") with input as examples.bad_of_first_version
	check.unknown == set() with input as examples.bad_new_namespace
}

test_administrators_may if {
	check.deny == set() with input as examples.good_by_administrator
}

test_what_was_open_before_may_be_changed if {
	check.deny == set() with input as examples.good_open_before
	check.unknown == set() with input as examples.good_open_before
}

test_another_value_opens_nothing if {
	check.deny == set() with input as examples.good_closed
	check.unknown == set() with input as json.remove(examples.good_closed, ["/review"])
}

test_in_ci_the_user_is_unknown if {
	check.deny == set() with input as examples.unknown_in_ci
	check.unknown == {{
		"path": "/metadata/labels/resource.kubernetes.io~1admin-access",
		"reason": $"only administrators may set {label}, and usher does not know which user sets it",
	}} with input as examples.unknown_in_ci
}

test_the_label_opens_nothing_but_namespaces if {
	check.deny == set() with input as json.remove(examples.bad_new_namespace, ["/object/namespace"])
}
