package usher.checks.objects.deciding_key_unread_test

import data.examples.checks.objects.deciding_key_unread as examples
import data.usher.checks.objects.deciding_key_unread as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_misspelt_resources_and_tolerations_are_found if {
	check.deny == {
		found(
			"/spec/toleration",
			"Pod has the field toleration at spec, and nothing reads it",
			"did you mean tolerations?",
		),
		found(
			"/spec/containers/0/resource",
			"Pod has the field resource at spec.containers[0], and nothing reads it",
			"did you mean resources?",
		),
	} with input as examples.bad_pod
}

test_a_template_without_containers_is_found_once if {
	check.deny == {found(
		"/spec/template/spec/conatiners",
		"Deployment has the field conatiners at spec.template.spec, and nothing reads it",
		"did you mean containers?",
	)} with input as examples.bad_deployment_without_containers
}

test_keys_of_custom_resources_are_found if {
	worker := "spec.pytorchReplicaSpecs.Worker"
	check.deny == {
		found(
			"/spec/pytorchReplicaSpecs/Worker/replica",
			$"PyTorchJob has the field replica at {worker}, and nothing reads it",
			"did you mean replicas?",
		),
		found(
			"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/limits",
			$"PyTorchJob has the field limits at {worker}.template.spec.containers[0], and nothing reads it",
			"did you mean resources.limits?",
		),
	} with input as examples.bad_pytorchjob
}

test_objects_without_pods_are_compared_too if {
	check.deny == {found(
		"/spec/hards",
		"ResourceQuota has the field hards at spec, and nothing reads it",
		"did you mean hard?",
	)} with input as examples.bad_resource_quota
}

test_the_api_version_of_another_kind_is_found if {
	check.deny == {found(
		"/apiVersion",
		"Job has the apiVersion apps/v1, which no API server knows together with Job",
		"did you mean apiVersion: batch/v1?",
	)} with input as examples.bad_job_of_another_group
}

test_other_objects_pass if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_with_an_owner
	check.deny == set() with input as examples.good_pod_with_a_refused_value
}
