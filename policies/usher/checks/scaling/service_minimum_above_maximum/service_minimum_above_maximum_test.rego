package usher.checks.scaling.service_minimum_above_maximum_test

import data.examples.checks.scaling.service_minimum_above_maximum as examples
import data.usher.checks.scaling.service_minimum_above_maximum as check

component(name, minimum, maximum) := {{
	"path": $"/spec/{name}/minReplicas",
	"message": $"minReplicas {minimum} of the {name} is more than its maxReplicas {maximum}, so KServe refuses the service",
	"remedy": "lower minReplicas, or raise maxReplicas",
}}

service(path, minimum, maximum) := {{
	"path": $"{path}/annotations",
	"message": $"min-scale {minimum} is more than max-scale {maximum}, so Knative refuses the service",
	"remedy": "lower autoscaling.knative.dev/min-scale, or raise max-scale",
}}

test_every_component_is_looked_at if {
	check.deny == component("predictor", 4, 2) with input as examples.bad_inference_service
	check.deny == component("transformer", 4, 2) with input as json.patch(examples.bad_inference_service, [{
		"op": "move",
		"from": "/object/inferenceService/spec/predictor",
		"path": "/object/inferenceService/spec/transformer",
	}])
	check.deny == component("explainer", 4, 2) with input as json.patch(examples.bad_inference_service, [{
		"op": "move",
		"from": "/object/inferenceService/spec/predictor",
		"path": "/object/inferenceService/spec/explainer",
	}])
}

test_both_spellings_of_knative_count if {
	check.deny == service("/spec/template/metadata", `"10"`, `"9"`) with input as examples.bad_knative_service
	check.deny == service("/metadata", `"3"`, `"1"`) with input as examples.bad_revision
}

test_equal_bounds_are_good if {
	check.deny == set() with input as examples.good_inference_service
	check.deny == set() with input as examples.good_knative_service
}

test_zero_is_no_maximum if {
	check.deny == set() with input as json.patch(examples.bad_inference_service, [{
		"op": "replace",
		"path": "/object/inferenceService/spec/predictor/maxReplicas",
		"value": 0,
	}])
	check.deny == set() with input as json.patch(examples.bad_knative_service, [{
		"op": "replace",
		"path": "/podSets/0/annotations/autoscaling.knative.dev~1max-scale",
		"value": "0",
	}])
}

test_of_two_spellings_the_first_counts if {
	check.deny == set() with input as json.patch(examples.bad_knative_service, [{
		"op": "add",
		"path": "/podSets/0/annotations/autoscaling.knative.dev~1min-scale",
		"value": "1",
	}])
}

test_annotations_of_knative_say_nothing_elsewhere if {
	check.deny == set() with input as object.union(examples.bad_knative_service, {"workload": {"group": "apps"}})
}
