package usher.lib.device_claims_test

import data.usher.lib.device_claims

requests := [
	{"name": "inline", "deviceClassName": "a"},
	{"name": "exact", "exactly": {"deviceClassName": "b"}},
	{"firstAvailable": [{"name": "large", "deviceClassName": "c"}, {"name": "small", "deviceClassName": "d"}]},
	{"name": "empty"},
]

claim := {"object": {"resourceClaim": {
	"apiVersion": "resource.k8s.io/v1beta1",
	"spec": {"devices": {"requests": requests}},
}}}

template := {"object": {"resourceClaimTemplate": {
	"apiVersion": "resource.k8s.io/v1",
	"spec": {"spec": {"devices": {"requests": [requests[1]]}}},
}}}

test_what_is_asked_for_is_read_in_all_its_forms if {
	device_claims.asked == [
		{"path": "/spec/devices/requests/0", "name": "inline", "asked": requests[0]},
		{"path": "/spec/devices/requests/1/exactly", "name": "exact", "asked": {"deviceClassName": "b"}},
		{
			"path": "/spec/devices/requests/2/firstAvailable/0",
			"name": "",
			"asked": {"name": "large", "deviceClassName": "c"},
		},
		{
			"path": "/spec/devices/requests/2/firstAvailable/1",
			"name": "",
			"asked": {"name": "small", "deviceClassName": "d"},
		},
	] with input as claim
}

test_requests_are_read_whatever_they_hold if {
	[entry.name | some entry in device_claims.requests] == ["inline", "exact", "", "empty"] with input as claim
}

test_a_template_keeps_them_one_level_deeper if {
	device_claims.asked == [{
		"path": "/spec/spec/devices/requests/0/exactly",
		"name": "exact",
		"asked": {"deviceClassName": "b"},
	}] with input as template
}

test_the_version_is_that_of_the_object if {
	device_claims.version == "v1beta1" with input as claim
	device_claims.version == "v1" with input as template
}

test_a_claim_without_devices_asks_for_nothing if {
	device_claims.asked == [] with input as {"object": {"resourceClaim": {"spec": {}}}}
	device_claims.asked == [] with input as {}
}
