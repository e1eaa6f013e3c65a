package usher.checks.serving.startup_too_short_test

import data.examples.checks.serving.startup_too_short as examples
import data.usher.checks.serving.startup_too_short as check

short(path, name, seconds, load) := {{
	"path": $"{path}/startupProbe",
	"message": $"the startup probe kills {name} after {seconds} seconds, but a model may take {load} seconds to load",
	"remedy": $"raise failureThreshold until the probe waits for {load} seconds",
}}

test_the_defaults_leave_half_a_minute if {
	check.deny == short(
		"/spec/template/spec/containers/0",
		"container triton",
		30,
		120,
	) with input as examples.bad_deployment
}

test_delay_and_failures_count_together if {
	check.deny == short(
		"/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0",
		"container vllm of leader",
		115,
		120,
	) with input as examples.bad_leaderworkerset
}

test_a_runtime_is_judged_before_anything_uses_it if {
	check.deny == short("/spec/containers/0", "container kserve-container", 60, 120) with input as examples.bad_serving_runtime
}

test_some_models_take_longer if {
	check.deny == short(
		"/spec/template/spec/containers/0",
		"container vllm",
		600,
		900,
	) with input as examples.bad_statefulset_of_a_large_model
}

test_a_budget_as_long_as_loading_takes_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_liveness_probe_is_for_another_check if {
	check.deny == set() with input as examples.good_deployment_with_a_liveness_probe
}

test_what_kserve_merges_is_left_alone if {
	check.deny == short(
		"/spec/predictor/containers/0",
		"container kserve-container of predictor",
		60,
		120,
	) with input as examples.bad_inference_service
	check.deny == set() with input as json.patch(examples.bad_inference_service, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/path",
		"value": "/spec/predictor/model",
	}])
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_deployment, {"workload": {"owned": true}})
}

test_a_large_model_takes_longer if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/startupProbe",
		"message": "the startup probe kills container vllm after 300 seconds, but 140 GB of weights (70B with 16 bits) may take 700 seconds to load",
		"remedy": "raise failureThreshold until the probe waits for 700 seconds",
		"assumption": "usher assumes that weights load at 200 MB per second, a parameter of killed-while-loading",
	}} with input as examples.bad_large_model
}

test_a_probe_that_waits_long_enough_for_a_large_model_is_good if {
	check.deny == set() with input as examples.good_large_model
}
