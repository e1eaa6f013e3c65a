# METADATA
# title: An InferenceService on several nodes sets its sizes in workerSpec
# description: |
#   An InferenceService with a workerSpec spreads its model over several nodes. KServe reads the number of nodes from
#   workerSpec.pipelineParallelSize and workerSpec.tensorParallelSize. From these fields it sets PIPELINE_PARALLEL_SIZE
#   and TENSOR_PARALLEL_SIZE in the containers. It refuses an InferenceService that sets these variables by hand.
# scope: package
# related_resources:
#   - ref: https://kserve.github.io/website/docs/model-serving/generative-inference/multi-node
#     description: KServe on models that span several nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1005
#   about: objects
#   kinds: [inferenceService]
#   severity: high
#   why: KServe refuses the whole InferenceService.
#   closes: [S43]
#   remediation: |
#     Remove the variable from `env`, and set workerSpec.pipelineParallelSize and workerSpec.tensorParallelSize instead.
package usher.checks.serving.variable_that_kserve_refuses

_fields := {
	"PIPELINE_PARALLEL_SIZE": "pipelineParallelSize",
	"TENSOR_PARALLEL_SIZE": "tensorParallelSize",
}

# KServe also reads the older field huggingface as a model.
_frameworks := ["model", "huggingface"]

deny contains finding if {
	predictor := input.object.inferenceService.spec.predictor
	predictor.workerSpec
	some framework in _frameworks
	some index, variable in object.get(predictor, [framework, "env"], [])
	field := _fields[variable.name]

	finding := {
		"path": $"/spec/predictor/{framework}/env/{index}",
		"message": $"KServe refuses an InferenceService with a workerSpec that sets {variable.name}, because KServe sets this variable itself",
		"remedy": $"remove the variable, and set workerSpec.{field}",
	}
}
