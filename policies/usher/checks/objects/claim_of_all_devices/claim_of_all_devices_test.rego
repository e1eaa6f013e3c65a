package usher.checks.objects.claim_of_all_devices_test

import data.examples.checks.objects.claim_of_all_devices as examples
import data.usher.checks.objects.claim_of_all_devices as check

finding(path, request, class) := {
	"path": path,
	"message": $"request {request} takes every {class} device of a node, whatever their number",
	"remedy": "set allocationMode to ExactCount, with a count",
}

test_accelerators_are_found_and_network_cards_are_not if {
	check.deny == {finding(
		"/spec/spec/devices/requests/0/exactly/allocationMode",
		"gpus",
		"gpu.nvidia.com",
	)} with input as examples.bad_template
	check.unknown == set() with input as examples.bad_template
}

test_the_first_version_has_the_fields_in_the_request if {
	check.deny == {finding("/spec/devices/requests/0/allocationMode", "gpus", "gpu.amd.com")} with input as examples.bad_claim_of_v1beta1
}

test_one_alternative_is_enough if {
	check.deny == {finding(
		"/spec/spec/devices/requests/0/firstAvailable/1/allocationMode",
		"gpus",
		"mig.nvidia.com",
	)} with input as examples.bad_alternatives
}

test_a_count_is_good_and_so_are_all_channels if {
	check.deny == set() with input as examples.good_template
	check.unknown == set() with input as examples.good_template
}

test_admin_access_takes_no_device if {
	check.deny == set() with input as examples.good_admin_access
	check.unknown == set() with input as examples.good_admin_access
}

test_system_namespaces_may_take_all if {
	check.deny == set() with input as object.union(examples.bad_template, {"site": {"systemNamespace": true}})
	check.unknown == set() with input as object.union(examples.unknown_class, {"site": {"systemNamespace": true}})
}

test_a_class_that_nobody_has_described_is_unknown if {
	check.deny == set() with input as examples.unknown_class
	check.unknown == {{
		"path": "/spec/devices/requests/0/exactly/deviceClassName",
		"reason": "request devices takes every fast.example.com device of a node, and usher does not know whether these are accelerators",
	}} with input as examples.unknown_class
}

test_usher_yaml_can_describe_it if {
	described := {"site": {"parameters": {"objects/claim_of_all_devices": {"deviceClasses": ["fast.example.com"]}}}}
	check.deny == {finding(
		"/spec/devices/requests/0/exactly/allocationMode",
		"devices",
		"fast.example.com",
	)} with input as object.union(examples.unknown_class, described)
	check.unknown == set() with input as object.union(examples.unknown_class, described)
}

test_a_request_without_a_class_is_no_business_of_this_check if {
	nameless := json.remove(examples.unknown_class, ["/object/resourceClaim/spec/devices/requests/0/exactly/deviceClassName"])
	check.deny == set() with input as nameless
	check.unknown == set() with input as nameless
}
