# METADATA
# title: Tekton
# description: Fields of Tekton's four kinds, except their pods.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.tekton

# METADATA
# title: Version of the object
version := trim_prefix(input.object[kind].apiVersion, "tekton.dev/") if {
	some kind in ["tektonTask", "tektonTaskRun", "tektonPipeline", "tektonPipelineRun"]
}

# METADATA
# title: Specs of tasks
# description: Each with its path, in a Task, a TaskRun or the tasks of a pipeline.
task_specs := array.concat(_own, _of_pipeline)

_of_pipeline := [{"path": path, "spec": spec} |
	some entry in pipeline_tasks
	spec := entry.task.taskSpec
	path := $"{entry.path}/taskSpec"
]

# METADATA
# title: Tasks of a pipeline
# description: Each with its path, in a Pipeline or a PipelineRun.
pipeline_tasks := [{"path": path, "task": task} |
	some list in ["tasks", "finally"]
	some index, task in pipeline.spec[list]
	path := $"{pipeline.path}/{list}/{index}"
]

# METADATA
# title: The spec of a pipeline
# description: With its path, in a Pipeline or a PipelineRun.
pipeline := {"path": "/spec", "spec": spec} if {
	spec := input.object.tektonPipeline.spec
} else := {"path": "/spec/pipelineSpec", "spec": spec} if {
	spec := input.object.tektonPipelineRun.spec.pipelineSpec
}

_own := [{"path": "/spec", "spec": spec}] if {
	spec := input.object.tektonTask.spec
} else := [{"path": "/spec/taskSpec", "spec": spec}] if {
	spec := input.object.tektonTaskRun.spec.taskSpec
} else := []
