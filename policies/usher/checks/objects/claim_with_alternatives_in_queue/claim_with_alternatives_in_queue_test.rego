package usher.checks.objects.claim_with_alternatives_in_queue_test

import data.examples.checks.objects.claim_with_alternatives_in_queue as examples
import data.usher.checks.objects.claim_with_alternatives_in_queue as check

finding(path, request, number) := {
	"path": path,
	"message": $"request {request} has {number} alternatives in firstAvailable, so Kueue cannot count it",
	"remedy": "ask for one device class with exactly and a count",
	"assumption": "usher assumes that Kueue runs without its gate KueueDRAIntegrationPrioritizedList",
}

test_alternatives_are_found_in_every_version if {
	check.deny == {finding("/spec/spec/devices/requests/1/firstAvailable", "gpu", 2)} with input as examples.bad_template
	check.deny == {finding("/spec/spec/devices/requests/0/firstAvailable", "gpu", 3)} with input as examples.bad_template_of_v1beta1
}

test_kueue_refuses_a_single_alternative_too if {
	check.deny == {finding("/spec/spec/devices/requests/0/firstAvailable", "gpu", 1)} with input as examples.bad_single_alternative
}

test_a_count_of_one_class_is_good if {
	check.deny == set() with input as examples.good_template
}

test_namespaces_without_a_queue_are_free if {
	check.deny == set() with input as examples.good_without_queue
}
