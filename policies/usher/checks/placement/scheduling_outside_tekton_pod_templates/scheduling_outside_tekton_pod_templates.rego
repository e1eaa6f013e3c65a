# METADATA
# title: Tekton objects set scheduling fields only in pod templates
# description: |
#   Tolerations, node selectors and affinity are fields of a pod template: `spec.podTemplate` of a TaskRun,
#   `spec.taskRunTemplate.podTemplate` and `spec.taskRunSpecs[].podTemplate` of a PipelineRun. Tasks, pipelines, and the
#   task specs inside a run or a pipeline do not have these fields. Tekton's webhook refuses unknown fields. Without the
#   webhook the API server drops them, and the step with the GPU stays pending forever.
# scope: package
# related_resources:
#   - ref: https://tekton.dev/docs/pipelines/podtemplates/
#     description: Tekton on pod templates
# schemas:
#   - input: schema.input
# custom:
#   code: USH311
#   about: objects
#   kinds: [tektonTask, tektonTaskRun, tektonPipeline, tektonPipelineRun]
#   severity: high
#   why: Tekton refuses the object, or the toleration is dropped.
#   closes: [S42]
#   remediation: |
#     Move the field into the pod template of the TaskRun or PipelineRun that runs the task.
package usher.checks.placement.scheduling_outside_tekton_pod_templates

import data.usher.lib.tekton

deny contains finding if {
	some holder in _holders
	some field in ["tolerations", "nodeSelector", "affinity"]
	holder.value[field]

	finding := {
		"path": $"{holder.path}/{field}",
		"message": $"{holder.what} of Tekton has no field {field}",
		"remedy": $"move it to {_pod_template}",
	}
}

# Places that people mistake for a pod spec.
_holders := array.concat(_of_object, array.concat(_of_tasks, _of_pipelines))

_of_object := [{"what": "a TaskRun", "path": "/spec", "value": spec}] if {
	spec := input.object.tektonTaskRun.spec
} else := [{"what": "a PipelineRun", "path": "/spec", "value": spec}] if {
	spec := input.object.tektonPipelineRun.spec
} else := []

_of_tasks := [{"what": "a task", "path": entry.path, "value": entry.spec} | some entry in tekton.task_specs]

_of_pipelines := array.concat(
	[{"what": "a pipeline", "path": entry.path, "value": entry.spec} | entry := tekton.pipeline],
	[{"what": "a task of a pipeline", "path": entry.path, "value": entry.task} | some entry in tekton.pipeline_tasks],
)

_pod_template := "spec.podTemplate" if {
	input.object.tektonTaskRun
} else := "spec.podTemplate" if {
	input.object.tektonPipelineRun
	tekton.version == "v1beta1"
} else := "spec.taskRunTemplate.podTemplate" if {
	input.object.tektonPipelineRun
} else := "the podTemplate of the TaskRun or PipelineRun that runs it"
