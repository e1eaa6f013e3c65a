package usher.checks.objects.priority_class_value_too_high_test

import data.examples.checks.objects.priority_class_value_too_high as examples
import data.usher.checks.objects.priority_class_value_too_high as check

refused := {{
	"path": "/value",
	"message": "value 1000000001 is above 1000000000, which is the maximum of the API server",
	"remedy": "set value to at most 1000000000",
}}

above(value) := {{
	"path": "/value",
	"message": $"value {value} is above 10000, which only administrators may exceed",
	"remedy": "set value to at most 10000",
}}

test_what_the_api_server_refuses_is_found if {
	check.deny == refused with input as examples.bad_class
	check.deny == set() with input as examples.good_class
	nameless := json.remove(examples.bad_class, ["/object/priorityClass/metadata"])
	check.deny == refused with input as nameless
}

test_it_is_found_once_whoever_asks if {
	tenant := object.union(examples.bad_class, {"review": examples.bad_class_by_a_tenant.review})
	check.deny == refused with input as tenant
	administrator := object.union(examples.bad_class, {"review": examples.good_class_by_an_administrator.review})
	check.deny == refused with input as administrator
}

test_classes_of_the_system_may_have_more if {
	check.deny == set() with input as examples.good_class_of_the_system
}

test_the_ceiling_of_the_site_holds_for_tenants if {
	check.deny == above(10001) with input as examples.bad_class_by_a_tenant
	check.deny == set() with input as examples.good_class_by_a_tenant
	highest := json.patch(examples.bad_class_by_a_tenant, [
		{"op": "replace", "path": "/object/priorityClass/value", "value": 1000000000},
	])
	check.deny == above(1000000000) with input as highest
	check.deny == above(2000000000) with input as examples.bad_workload_class_by_a_tenant
}

test_administrators_may_go_above_it if {
	check.deny == set() with input as examples.good_class_by_an_administrator
}

test_in_ci_nobody_asks if {
	check.deny == set() with input as examples.good_workload_class
	check.deny == set() with input as json.remove(examples.bad_class_by_a_tenant, ["/review"])
}
