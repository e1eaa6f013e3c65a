package usher.checks.objects.claim_fields_of_another_version_test

import data.examples.checks.objects.claim_fields_of_another_version as examples
import data.usher.checks.objects.claim_fields_of_another_version as check

test_fields_of_the_first_version_are_found_in_later_ones if {
	check.deny == {{
		"path": "/spec/spec/devices/requests/0/count",
		"message": "request gpus has count, deviceClassName outside exactly, but v1 reads only fields in exactly",
		"remedy": "move it into exactly",
	}} with input as examples.bad_template_of_v1
}

test_they_are_found_beside_exactly_whatever_their_values if {
	check.deny == {{
		"path": "/spec/devices/requests/0/adminAccess",
		"message": "request gpu has adminAccess, allocationMode outside exactly, but v1beta2 reads only fields in exactly",
		"remedy": "move it into exactly",
	}} with input as examples.bad_claim_of_v1beta2
}

test_exactly_is_found_in_the_first_version if {
	check.deny == {{
		"path": "/spec/devices/requests/0/exactly",
		"message": "request gpu has exactly, which v1beta1 does not support",
		"remedy": "write its fields in the request, or use apiVersion resource.k8s.io/v1",
	}} with input as examples.bad_claim_of_v1beta1
}

test_each_version_is_good_with_its_own_fields if {
	check.deny == set() with input as examples.good_template_of_v1
	check.deny == set() with input as examples.good_claim_of_v1beta1
}
