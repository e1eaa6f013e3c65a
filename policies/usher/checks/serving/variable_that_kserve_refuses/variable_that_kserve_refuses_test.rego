package usher.checks.serving.variable_that_kserve_refuses_test

import data.examples.checks.serving.variable_that_kserve_refuses as examples
import data.usher.checks.serving.variable_that_kserve_refuses as check

refused(path, name, field) := {
	"path": path,
	"message": $"KServe refuses an InferenceService with a workerSpec that sets {name}, because KServe sets this variable itself",
	"remedy": $"remove the variable, and set workerSpec.{field}",
}

pipeline(path) := refused(path, "PIPELINE_PARALLEL_SIZE", "pipelineParallelSize")

tensor(path) := refused(path, "TENSOR_PARALLEL_SIZE", "tensorParallelSize")

test_each_of_the_variables_is_found if {
	check.deny == {pipeline("/spec/predictor/model/env/0")} with input as examples.bad_with_pipelines
	check.deny == {tensor("/spec/predictor/model/env/1")} with input as examples.bad_with_tensors
	check.deny == {
		pipeline("/spec/predictor/model/env/0"),
		tensor("/spec/predictor/model/env/1"),
	} with input as examples.bad_with_both
}

test_they_are_found_in_the_older_field if {
	check.deny == {pipeline("/spec/predictor/huggingface/env/0")} with input as json.patch(
		examples.bad_with_pipelines,
		[{
			"op": "move",
			"from": "/object/inferenceService/spec/predictor/model",
			"path": "/object/inferenceService/spec/predictor/huggingface",
		}],
	)
}

test_other_variables_are_good if {
	check.deny == set() with input as examples.good_on_several_nodes
}

test_on_one_node_they_are_the_users_own if {
	check.deny == set() with input as examples.good_on_one_node
}

test_a_predictor_without_variables_is_good if {
	check.deny == set() with input as json.remove(
		examples.bad_with_both,
		["/object/inferenceService/spec/predictor/model/env"],
	)
}
