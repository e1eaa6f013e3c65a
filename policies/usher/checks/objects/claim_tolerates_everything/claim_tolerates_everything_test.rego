package usher.checks.objects.claim_tolerates_everything_test

import data.examples.checks.objects.claim_tolerates_everything as examples
import data.usher.checks.objects.claim_tolerates_everything as check

found(path, request) := {{
	"path": path,
	"message": $"request {request} tolerates every taint of a device, so it takes devices that are broken or kept for others",
	"remedy": "name the key of each taint that the devices may have",
}}

test_a_toleration_without_a_key_is_found if {
	check.deny == found("/spec/devices/requests/0/exactly/tolerations/0", "gpu") with input as examples.bad_claim
	check.deny == found("/spec/spec/devices/requests/0/firstAvailable/0/tolerations/1", "either") with input as examples.bad_template
	check.deny == found("/spec/devices/requests/0/tolerations/0", "device") with input as examples.bad_unknown_class
}

test_tolerations_with_a_key_are_good if {
	check.deny == set() with input as examples.good_claim
}

test_without_a_key_only_exists_matches_every_taint if {
	check.deny == set() with input as json.patch(examples.bad_claim, [{
		"op": "replace",
		"path": "/object/resourceClaim/spec/devices/requests/0/exactly/tolerations/0/operator",
		"value": "Equal",
	}])
}

test_other_devices_are_good if {
	check.deny == set() with input as examples.good_card
}

test_monitoring_may_look_at_broken_devices if {
	check.deny == set() with input as object.union(examples.bad_claim, {"site": {"visibleDevicesAllowed": true}})
}
