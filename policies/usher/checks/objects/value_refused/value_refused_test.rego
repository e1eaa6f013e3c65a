package usher.checks.objects.value_refused_test

import data.examples.checks.objects.value_refused as examples
import data.usher.checks.objects.value_refused as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_number_where_a_text_belongs_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/env/0/value",
		"Job has 8 at spec.template.spec.containers[0].env[0].value, where the API server takes a string",
		`write "8"`,
	)} with input as examples.bad_job
}

test_a_text_that_a_field_of_a_pod_does_not_know_is_found_in_custom_resources if {
	check.deny == {found(
		"/spec/workerGroupSpecs/0/template/spec/tolerations/0/operator",
		concat("", [
			"RayCluster has the string exists at spec.workerGroupSpecs[0].template.spec.tolerations[0].operator, ",
			"where the API server takes Equal, Exists, Gt, Lt",
		]),
		"did you mean Exists?",
	)} with input as examples.bad_raycluster
}

test_other_objects_pass if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_pod_with_an_unread_key
}
