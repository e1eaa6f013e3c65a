package usher.checks.tenancy.trusted_namespace_by_tenant_test

import data.examples.checks.tenancy.trusted_namespace_by_tenant as examples
import data.usher.checks.tenancy.trusted_namespace_by_tenant as check

found(reason) := {{
	"path": "/metadata/name",
	"message": $"usher.yaml trusts namespaces of this name: {reason}. Only administrators may make one",
	"remedy": "choose another name, or have an administrator make it",
}}

test_a_tenant_makes_no_namespace_that_usher_yaml_trusts if {
	check.deny == found("exemptNamespaces lists it, so no rule judges its objects") with input as examples.bad_exempt
	check.deny == found("priorities.systemNamespaces lists it, so its pods may control nodes") with input as examples.bad_of_drivers
	check.deny == found("priorities.systemNamespaces lists it, so its pods may control nodes") with input as examples.bad_of_a_scheduler
	check.deny == found("isolation.visibleDevices lists it, so its pods may see all devices") with input as examples.bad_seeing_devices
	check.deny == found("identities.administrators lists its service accounts") with input as examples.bad_of_a_tool
}

test_administrators_and_components_of_the_cluster_may if {
	check.deny == set() with input as examples.good_by_administrator
	check.deny == set() with input as examples.good_by_a_scheduler
	controller := json.patch(examples.bad_exempt, [{"op": "replace", "path": "/review/by", "value": ["controllers"]}])
	check.deny == set() with input as controller
}

test_other_names_are_free if {
	check.deny == set() with input as examples.good_other_name
}

test_a_namespace_that_exists_may_be_changed if {
	check.deny == set() with input as examples.good_changed
	update := json.patch(examples.bad_exempt, [{"op": "replace", "path": "/review/operation", "value": "UPDATE"}])
	check.deny == set() with input as update
}

test_in_ci_nobody_knows_who_will_apply_it if {
	check.deny == set() with input as json.remove(examples.bad_exempt, ["/review"])
}
