package usher.checks.scaling.serverless_without_bound_test

import data.examples.checks.scaling.serverless_without_bound as examples
import data.usher.checks.scaling.serverless_without_bound as check

on_knative := "Knative's configuration sets no max-scale for the whole cluster"

service(path) := {{
	"path": $"{path}",
	"message": "Knative may make any number of its pods, and each asks for accelerators",
	"remedy": "set the annotation autoscaling.knative.dev/max-scale",
	"assumption": on_knative,
}}

component(path, name) := {{
	"path": $"{path}",
	"message": $"Knative may make any number of pods of the {name}, and each asks for accelerators",
	"remedy": "set maxReplicas",
	"assumption": on_knative,
}}

test_a_knative_service_without_a_bound_is_found if {
	check.deny == service("/spec/template/metadata/annotations") with input as examples.bad_knative_service
}

test_zero_is_no_bound if {
	check.deny == service("/metadata/annotations") with input as examples.bad_revision
}

test_an_inference_service_without_a_bound_is_found if {
	check.deny == component("/spec/predictor", "predictor") with input as examples.bad_inference_service
}

test_an_inference_service_without_a_mode_is_skipped if {
	check.deny == set() with input as examples.good_inference_service_without_a_mode
}

test_a_bound_is_good if {
	check.deny == set() with input as examples.good_knative_service
	check.deny == set() with input as examples.good_inference_service
}

test_pods_without_accelerators_may_be_many if {
	check.deny == set() with input as json.patch(examples.bad_knative_service, [{
		"op": "replace",
		"path": "/podSets/0/asksAccelerators",
		"value": false,
	}])
}

test_what_is_no_service_of_knative_is_left_alone if {
	check.deny == set() with input as examples.good_inference_service_that_something_else_scales
	check.deny == set() with input as examples.good_daemonset
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_revision, {"workload": {"owned": true}})
}
