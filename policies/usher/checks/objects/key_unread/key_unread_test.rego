package usher.checks.objects.key_unread_test

import data.examples.checks.objects.key_unread as examples
import data.usher.checks.objects.key_unread as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_key_without_a_likely_meaning_is_found if {
	check.deny == {found(
		"/metadata/owner",
		"Pod has the field owner at metadata, and nothing reads it",
		"remove the field, or correct its name",
	)} with input as examples.bad_pod
}

test_a_misspelt_key_is_found_in_kubernetes_own_kinds if {
	check.deny == {found(
		"/spec/sessionAfinity",
		"Service has the field sessionAfinity at spec, and nothing reads it",
		"did you mean sessionAffinity?",
	)} with input as examples.bad_service
}

test_a_misspelt_key_is_found_in_custom_resources if {
	check.deny == {found(
		"/spec/ray_version",
		"RayCluster has the field ray_version at spec, and nothing reads it",
		"did you mean rayVersion?",
	)} with input as examples.bad_raycluster
}

test_other_objects_pass if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_with_a_deciding_key
}
