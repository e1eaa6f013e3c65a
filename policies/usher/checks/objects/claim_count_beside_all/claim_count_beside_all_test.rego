package usher.checks.objects.claim_count_beside_all_test

import data.examples.checks.objects.claim_count_beside_all as examples
import data.usher.checks.objects.claim_count_beside_all as check

finding(path, request, number) := {
	"path": path,
	"message": $"request {request} sets both count {number} and allocationMode All, so the API server refuses it",
	"remedy": "remove allocationMode, or count",
}

test_a_count_beside_all_is_found if {
	check.deny == {finding("/spec/spec/devices/requests/0/exactly/count", "gpus", 8)} with input as examples.bad_template
	check.deny == {finding("/spec/devices/requests/0/count", "cards", 1)} with input as examples.bad_claim_of_v1beta1
}

test_it_is_found_in_the_alternative_that_has_it if {
	check.deny == {finding("/spec/devices/requests/0/firstAvailable/1/count", "gpus", 4)} with input as examples.bad_alternatives
}

test_either_of_them_alone_is_good if {
	check.deny == set() with input as examples.good_template
	check.deny == set() with input as examples.good_claim
}
