package usher.checks.objects.claim_with_admin_access_test

import data.examples.checks.objects.claim_with_admin_access as examples
import data.usher.checks.objects.claim_with_admin_access as check

finding(path, request) := {
	"path": path,
	"message": $"request {request} has admin access, so it uses devices of other pods and no quota counts it",
	"remedy": "remove adminAccess",
}

test_access_to_accelerators_is_found_and_to_network_cards_is_not if {
	check.deny == {finding("/spec/spec/devices/requests/0/exactly/adminAccess", "gpus")} with input as examples.bad_template
}

test_the_first_version_has_the_field_in_the_request if {
	check.deny == {finding("/spec/devices/requests/0/adminAccess", "gpu")} with input as examples.bad_claim_of_v1beta1
}

test_a_class_that_nobody_has_described_is_no_excuse if {
	check.deny == {finding("/spec/devices/requests/0/exactly/adminAccess", "device")} with input as examples.bad_unknown_class
}

test_ordinary_claims_are_good if {
	check.deny == set() with input as examples.good_claim
}

test_monitoring_and_system_namespaces_may_have_it if {
	check.deny == set() with input as examples.good_monitoring
	check.deny == set() with input as object.union(examples.bad_template, {"site": {"systemNamespace": true}})
	check.deny == {finding("/spec/spec/devices/requests/0/exactly/adminAccess", "gpus")} with input as object.union(
		examples.good_monitoring,
		{"site": {"visibleDevicesAllowed": false}},
	)
}

test_until_usher_yaml_names_the_monitoring_namespaces_it_may_be_one if {
	undeclared := object.union(examples.bad_template, {"site": {"visibleDevicesDeclared": false}})
	check.deny == {object.union(
		finding("/spec/spec/devices/requests/0/exactly/adminAccess", "gpus"),
		{"assumption": "usher assumes that the namespace is not one for monitoring, because usher.yaml does not set isolation.visibleDevices"},
	)} with input as undeclared
}
