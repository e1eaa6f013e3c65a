package usher.checks.serving.killed_while_loading_test

import data.examples.checks.serving.killed_while_loading as examples
import data.usher.checks.serving.killed_while_loading as check

killed(path, name, seconds, load) := {{
	"path": $"{path}/livenessProbe",
	"message": $"the liveness probe kills {name} after {seconds} seconds, but a model may take {load} seconds to load",
	"remedy": "add a startupProbe, which keeps the liveness probe inactive until the model is loaded",
}}

test_the_defaults_leave_half_a_minute if {
	check.deny == killed(
		"/spec/template/spec/containers/0",
		"container vllm",
		30,
		120,
	) with input as examples.bad_deployment
}

test_delay_and_failures_count_together if {
	check.deny == killed(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0",
		"container sglang of worker",
		119,
		120,
	) with input as examples.bad_leaderworkerset
	check.deny == killed(
		"/spec/predictor/containers/0",
		"container kserve-container of predictor",
		60,
		120,
	) with input as examples.bad_inference_service
}

test_some_models_take_longer if {
	check.deny == killed(
		"/spec/template/spec/containers/0",
		"container vllm",
		120,
		900,
	) with input as examples.bad_statefulset_of_a_large_model
}

test_a_budget_as_long_as_loading_takes_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_startup_probe_keeps_the_liveness_probe_back if {
	check.deny == set() with input as examples.good_leaderworkerset
}

test_a_readiness_probe_kills_nothing if {
	ready := json.patch(examples.bad_deployment, [{
		"op": "move",
		"from": "/podSets/0/containers/0/livenessProbe",
		"path": "/podSets/0/containers/0/readinessProbe",
	}])
	check.deny == set() with input as ready
}

test_what_kserve_merges_is_left_alone if {
	check.deny == set() with input as json.patch(examples.bad_inference_service, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/path",
		"value": "/spec/predictor/model",
	}])
	check.deny == set() with input as examples.good_llm_inference_service
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_deployment, {"workload": {"owned": true}})
}

test_a_large_model_takes_longer if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/livenessProbe",
		"message": "the liveness probe kills container vllm after 150 seconds, but 140 GB of weights (70B with 16 bits) may take 700 seconds to load",
		"remedy": "add a startupProbe, which keeps the liveness probe inactive until the model is loaded",
		"assumption": "usher assumes that weights load at 200 MB per second, a parameter of killed-while-loading",
	}} with input as examples.bad_large_model
}

test_experts_make_a_model_larger_than_its_name_says if {
	experts := json.patch(examples.bad_large_model, [{"op": "replace", "path": "/podSets/0/containers/0/parallelism/model/experts", "value": true}])
	some finding in check.deny with input as experts
	contains(finding.message, "but at least 140 GB of weights")
}

test_a_probe_that_waits_long_enough_is_good if {
	check.deny == set() with input as examples.good_large_model
}

test_a_startup_probe_keeps_the_liveness_probe_of_a_large_model_back if {
	started := json.patch(examples.bad_large_model, [{"op": "add", "path": "/podSets/0/containers/0/startupProbe", "value": {}}])
	check.deny == set() with input as started
}

test_a_probe_is_told_once if {
	short := json.patch(examples.bad_large_model, [{"op": "replace", "path": "/podSets/0/containers/0/livenessProbe/initialDelaySeconds", "value": 10}])
	count(check.deny) == 1 with input as short
}
