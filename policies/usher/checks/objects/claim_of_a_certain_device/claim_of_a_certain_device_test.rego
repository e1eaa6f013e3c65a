package usher.checks.objects.claim_of_a_certain_device_test

import data.examples.checks.objects.claim_of_a_certain_device as examples
import data.usher.checks.objects.claim_of_a_certain_device as check

found(path, request) := {
	"path": path,
	"message": $"request {request} picks one certain device by its selector, so the scheduler has no choice",
	"remedy": "select by attributes that several devices share, for example productName",
}

test_a_uuid_is_found_in_all_forms_of_a_request if {
	check.deny == {found("/spec/devices/requests/0/exactly/selectors/0/cel/expression", "gpu")} with input as examples.bad_claim
	check.deny == {found("/spec/devices/requests/0/selectors/1/cel/expression", "gpu")} with input as examples.bad_of_v1beta1
	check.deny == {found(
		"/spec/spec/devices/requests/0/firstAvailable/1/selectors/0/cel/expression",
		"either",
	)} with input as examples.bad_template
}

with_expression(expression) := json.patch(examples.bad_claim, [{
	"op": "replace",
	"path": "/object/resourceClaim/spec/devices/requests/0/exactly/selectors/0/cel/expression",
	"value": expression,
}])

test_a_uuid_is_found_however_it_is_spelt if {
	every expression in [
		`"GPU-1" == device.attributes["gpu.nvidia.com"].uuid`,
		`device.attributes["gpu.nvidia.com"]["uuid"] == "GPU-1"`,
		`device.attributes['gpu.nvidia.com'].?uuid.orValue("") in ["GPU-1", "GPU-2"]`,
		`device.attributes["gpu.nvidia.com"].uuid.startsWith("GPU-7f6d")`,
		`device.attributes["gpu.nvidia.com"].parentUUID == "GPU-1"`,
		`device.attributes["gpu.nvidia.com"].exists(k, device.attributes["gpu.nvidia.com"][k] == "GPU-7f6d7a5e-2b6e")`,
	] {
		count(check.deny) == 1 with input as with_expression(expression)
	}
}

test_an_exclusion_of_a_device_is_good if {
	check.deny == set() with input as with_expression(`device.attributes["gpu.nvidia.com"].uuid != "GPU-1"`)
	check.deny == set() with input as with_expression(`device.attributes["gpu.nvidia.com"]["uuid"] != "GPU-7f6d7a5e-2b6e"`)
}

test_a_description_is_good if {
	check.deny == set() with input as examples.good_claim
}

test_network_cards_may_be_named if {
	check.deny == set() with input as examples.good_card
}

test_monitoring_may_name_its_devices if {
	check.deny == set() with input as object.union(examples.bad_claim, {"site": {"visibleDevicesAllowed": true}})
}
