package usher.lib.amounts_test

import data.usher.lib.amounts

test_bytes_are_said_in_the_unit_that_people_use if {
	amounts.bytes(17179869184) == "16Gi"
	amounts.bytes(1073741824) == "1Gi"
	amounts.bytes(36077725286) == "33.6Gi"
	amounts.bytes(1073741823) == "1024Mi"
	amounts.bytes(1048576) == "1Mi"
	amounts.bytes(1048575) == "1048575"
	amounts.bytes(0) == "0"
}

test_cpu_is_said_as_it_is_counted if {
	amounts.shown("cpu", {"text": "7500m", "value": 8}) == "7500m"
	amounts.shown("memory", {"text": "68719476736", "value": 68719476736}) == "64Gi"
}

test_whole_devices_are_counted_at_their_most_and_over_both_routes if {
	amounts.whole_devices({"requests": [
		{"route": "extended resource", "minimum": {"value": 4}, "maximum": {"value": 4}},
		{"route": "device claim", "minimum": {"value": 1}, "maximum": {"value": 2}},
		{"route": "device claim", "minimum": {"value": 1}},
		{"route": "partition", "minimum": {"value": 7}, "maximum": {"value": 7}},
		{"route": "share", "minimum": {"value": 7}, "maximum": {"value": 7}},
	]}) == 7
}

test_a_limit_stands_in_for_a_missing_request if {
	amounts.effective({"requests": {"value": 1}, "limits": {"value": 2}}) == {"value": 1}
	amounts.effective({"limits": {"value": 2}}) == {"value": 2}
}

test_one_thing_is_not_said_as_many if {
	amounts.number_of(1, "GPU", "GPUs") == "1 GPU"
	amounts.number_of(0, "GPU", "GPUs") == "0 GPUs"
	amounts.number_of(2, "GPU", "GPUs") == "2 GPUs"
}
