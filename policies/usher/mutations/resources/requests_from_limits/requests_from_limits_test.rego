package usher.mutations.resources.requests_from_limits_test

import data.examples.mutations.resources.requests_from_limits as examples
import data.usher.mutations.resources.requests_from_limits as mutation

request(at, name, amount) := {
	"at": at,
	"field": "request",
	"value": {"name": name, "amount": amount},
	"reason": $"the limit is {amount}, and Kubernetes uses it as the missing request",
}

skipped(at, reason) := {{"at": at, "reason": reason}}

kept := "kubectl apply would keep the old request when the author changes the limit"

test_every_container_with_a_limit_alone_gets_the_request if {
	mutation.intents == {
		request("/spec/pytorchReplicaSpecs/Master/template/spec/containers/0", "nvidia.com/gpu", "8"),
		request("/spec/pytorchReplicaSpecs/Worker/template/spec/initContainers/0", "nvidia.com/gpu", "1"),
		request("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0", "nvidia.com/gpu", "8"),
	} with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_what_is_requested_stays_whatever_it_is if {
	mutation.intents == {request("/spec/workerGroupSpecs/1/template/spec/containers/0", "nvidia.com/mig-3g.40gb", "2")} with input as examples.before_raycluster
	mutation.skips == skipped(
		"/spec/workerGroupSpecs/0/template/spec/containers/0",
		"the container already requests nvidia.com/gpu",
	) with input as examples.before_raycluster
}

test_pods_are_left_to_the_api_server if {
	mutation.intents == set() with input as examples.untouched_pod
	mutation.skips == skipped("", "the API server copies the limits of a Pod into its requests") with input as examples.untouched_pod
}

test_the_template_of_a_deployment_is_left_to_who_applies_it if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped("", $"{kept}, and the API server would refuse both") with input as examples.untouched_deployment
}

test_resources_that_stand_in_no_list_are_left_to_who_applies_them if {
	mutation.intents == set() with input as examples.untouched_inferenceservice
	mutation.skips == skipped("/spec/predictor/model", kept) with input as examples.untouched_inferenceservice
	mutation.intents == set() with input as examples.untouched_trainjob
	mutation.skips == skipped("/spec/trainer", kept) with input as examples.untouched_trainjob
}

test_a_share_that_an_annotation_asks_for_has_no_limit if {
	mutation.intents == set() with input as examples.untouched_jobset_with_a_fraction
	mutation.skips == skipped("", "its containers set no limits of accelerators") with input as examples.untouched_jobset_with_a_fraction
}

test_none_of_a_resource_is_no_reason_to_write_anything if {
	mutation.intents == {request("/spec/replicatedJobs/0/template/spec/template/spec/containers/0", "nvidia.com/gpu", "8")} with input as examples.before_jobset
}

test_a_limit_that_is_no_whole_number_is_not_copied if {
	at := "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0"
	half := {"text": "500m", "value": 1, "milli": 500, "whole": false}
	job := json.patch(examples.before_pytorchjob, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/accelerators/nvidia.com~1gpu/limits",
		"value": half,
	}])

	not at in {intent.at | some intent in mutation.intents} with input as job
	mutation.skips == skipped(at, "its limit of nvidia.com/gpu is 500m, which is not a whole number") with input as job
}
