package usher.checks.objects.claim_of_an_unknown_class_test

import data.examples.checks.objects.claim_of_an_unknown_class as examples
import data.usher.checks.objects.claim_of_an_unknown_class as check

finding(path) := {
	"path": path,
	"message": `request compute asks for devices of class "compute-large", and usher does not know what they are`,
	"remedy": "name the class in usher.yaml under accelerators.deviceClasses",
	"assumption": `usher assumes that the devices of class "compute-large" may be accelerators`,
}

test_a_class_that_no_name_and_no_selector_explains_is_found if {
	check.deny == {finding("/spec/devices/requests/0/exactly/deviceClassName")} with input as examples.bad_claim
	check.deny == {finding("/spec/devices/requests/0/deviceClassName")} with input as examples.bad_older_claim
}

test_each_alternative_is_judged if {
	check.deny == {finding("/spec/spec/devices/requests/0/firstAvailable/1/deviceClassName")} with input as examples.bad_template
}

test_names_usher_yaml_and_selectors_explain_a_class if {
	check.deny == set() with input as examples.good_claim
	check.deny == set() with input as examples.good_claim_of_a_class_of_the_cluster
}

test_namespaces_that_see_all_devices_may_name_any_class if {
	check.deny == set() with input as object.union(examples.bad_claim, {"site": {"visibleDevicesAllowed": true}})
}
