# METADATA
# title: The sizes of a model on several nodes stand in workerSpec
# description: |
#   An InferenceService with a workerSpec spreads its model over several nodes. How many, KServe reads from
#   workerSpec.pipelineParallelSize and workerSpec.tensorParallelSize, and writes PIPELINE_PARALLEL_SIZE and
#   TENSOR_PARALLEL_SIZE into the containers itself. One that sets these variables by hand is refused.
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

# KServe reads the older field as a model, too.
_frameworks := ["model", "huggingface"]

deny contains finding if {
	predictor := input.object.inferenceService.spec.predictor
	predictor.workerSpec
	some framework in _frameworks
	some index, variable in object.get(predictor, [framework, "env"], [])
	field := _fields[variable.name]

	finding := {
		"path": $"/spec/predictor/{framework}/env/{index}",
		"message": $"KServe refuses {variable.name} beside a workerSpec: it sets the variable itself",
		"remedy": $"remove it, and set workerSpec.{field}",
	}
}
