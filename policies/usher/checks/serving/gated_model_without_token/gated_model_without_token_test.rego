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

test_an_empty_volume_holds_no_token if {
	scratch := json.patch(examples.good_cache, [{
		"op": "replace",
		"path": "/podSets/0/volumes/0",
		"value": {"name": "models", "emptyDir": {}},
	}])
	check.deny == found("meta-llama") with input as scratch
	shared := json.patch(scratch, [{
		"op": "add",
		"path": "/podSets/0/containers/0/volumeMounts/-",
		"value": {"name": "shared", "mountPath": "/dev/shm/"},
	}])
	check.deny == found("meta-llama") with input as shared
	filled := json.patch(scratch, [{
		"op": "add",
		"path": "/podSets/0/containers/-",
		"value": {"name": "download", "type": "initContainer", "path": "/spec/template/spec/initContainers/0"},
	}])
	check.deny == set() with input as filled
}
