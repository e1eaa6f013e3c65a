# METADATA
# title: Tekton steps use the resources field of their API version
# description: |
#   In steps, sidecars and the step template, the field is `computeResources` in tekton.dev/v1 and `resources` in
#   v1beta1. Tekton's webhook refuses the field of the other version. Without the webhook the API server drops it, and
#   the step runs without the GPU that it asks for. Quotas do not count this request either.
# scope: package
# related_resources:
#   - ref: https://tekton.dev/docs/pipelines/migrating-v1beta1-to-v1/
#     description: Tekton on moving to v1
# schemas:
#   - input: schema.input
# custom:
#   code: USH318
#   about: objects
#   kinds: [tektonTask, tektonTaskRun, tektonPipeline, tektonPipelineRun]
#   severity: high
#   why: Tekton refuses the object, or the step gets no GPU.
#   closes: [S42]
#   remediation: |
#     Rename the field: `computeResources` in v1, `resources` in v1beta1.
package usher.checks.placement.tekton_resources_of_another_version

import data.usher.lib.tekton

deny contains finding if {
	some container in _containers
	wrong := _wrong[tekton.version]
	container.value[wrong]

	finding := {
		"path": $"{container.path}/{wrong}",
		"message": $"{container.what} of tekton.dev/{tekton.version} has no field {wrong}, so it gets no resources",
		"remedy": $"rename it to {_right[tekton.version]}",
	}
}

_wrong := {"v1": "resources", "v1beta1": "computeResources"}

_right := {"v1": "computeResources", "v1beta1": "resources"}

_containers := array.concat(_listed, _templates)

_listed := [{"what": what, "path": path, "value": value} |
	some entry in tekton.task_specs
	some list, what in {"steps": "a step", "sidecars": "a sidecar"}
	some index, value in entry.spec[list]
	path := $"{entry.path}/{list}/{index}"
]

_templates := [{"what": "a step template", "path": path, "value": entry.spec.stepTemplate} |
	some entry in tekton.task_specs
	path := $"{entry.path}/stepTemplate"
]
