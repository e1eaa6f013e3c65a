package usher.checks.objects.quota_of_a_fraction_test

import data.examples.checks.objects.quota_of_a_fraction as examples
import data.usher.checks.objects.quota_of_a_fraction as check

found(key, name, amount, number) := {
	"path": $"/spec/hard/requests.{key}",
	"message": $"{name} counts in whole numbers, so a quota of {amount} allows only {number}",
	"remedy": "write a whole number",
}

test_half_a_gpu_is_none if {
	check.deny == {found("nvidia.com~1gpu", "nvidia.com/gpu", "500m", 0)} with input as examples.bad_half
}

test_what_is_beyond_a_whole_number_is_lost if {
	check.deny == {found("nvidia.com~1gpu", "nvidia.com/gpu", "15500m", 15)} with input as examples.bad_decimal
	check.deny == {found(
		"nvidia.com~1mig-1g.10gb",
		"nvidia.com/mig-1g.10gb",
		"1500m",
		1,
	)} with input as examples.bad_milli
}

test_whole_numbers_are_good_however_they_are_spelt if {
	check.deny == set() with input as examples.good_whole
}

test_what_is_not_counted_is_for_others_to_find if {
	uncounted := json.patch(examples.bad_half, [
		{"op": "move", "from": "/object/resourceQuota/spec/hard/requests.nvidia.com~1gpu", "path": "/object/resourceQuota/spec/hard/nvidia.com~1gpu"},
	])
	check.deny == set() with input as uncounted
}

test_cpu_and_memory_have_fractions if {
	check.deny == set() with input as examples.good_cpu
}
