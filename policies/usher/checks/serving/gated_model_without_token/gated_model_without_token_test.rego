package usher.checks.serving.gated_model_without_token_test

import data.examples.checks.serving.gated_model_without_token as examples
import data.usher.checks.serving.gated_model_without_token as check

found(owner) := {{"path": "/spec/template/spec/containers/0", "message": $"container vllm downloads a model of {owner}, which the hub gives only to accounts that accepted its licence, but has no token", "remedy": "set HF_TOKEN from a Secret"}}

test_a_gated_model_without_a_token_is_found if {
	check.deny == found("meta-llama") with input as examples.bad_llama
	check.deny == found("google") with input as examples.bad_gemma
}

test_a_token_a_mount_and_open_models_are_good if {
	check.deny == set() with input as examples.good_token
	check.deny == set() with input as examples.good_variables_of_a_secret
	check.deny == set() with input as examples.good_cache
	check.deny == set() with input as examples.good_open_model
}
