package usher.checks.objects.cluster_queue_field_of_another_version_test

import data.examples.checks.objects.cluster_queue_field_of_another_version as examples
import data.usher.checks.objects.cluster_queue_field_of_another_version as check

found(version, field, name) := {
	"path": $"/spec/{field}",
	"message": $"kueue.x-k8s.io/{version} has no field {field}, so the API server refuses it or drops it without an error",
	"remedy": $"write {name} instead",
}

test_fields_of_the_old_version_are_found_in_the_new_one if {
	check.deny == {found("v1beta2", "cohort", "cohortName")} with input as examples.bad_queue
	check.deny == {found(
		"v1beta2",
		"admissionChecks",
		"admissionChecksStrategy.admissionChecks",
	)} with input as examples.bad_queue_with_checks
}

test_fields_of_the_new_version_are_found_in_the_old_one if {
	check.deny == {found("v1beta1", "cohortName", "cohort")} with input as examples.bad_queue_of_v1beta1
}

test_fields_of_the_right_version_are_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_queue_of_v1beta1
}
