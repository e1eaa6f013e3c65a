# METADATA
# title: withParam holds a JSON list
# description: |
#   withParam is a text that holds a JSON list after Argo has replaced its parameters. If it has no parameters and is
#   not a JSON list, for example a few words with commas between them, the workflow fails at this step. A list in the
#   manifest is easier to write in withItems, which takes it directly.
# scope: package
# related_resources:
#   - ref: https://argo-workflows.readthedocs.io/en/latest/walk-through/loops/
#     description: Argo Workflows on loops
# schemas:
#   - input: schema.input
# custom:
#   code: USH1108
#   about: objects
#   kinds: [workflow, cronWorkflow, workflowTemplate, clusterWorkflowTemplate]
#   severity: high
#   why: The workflow fails when it reaches this step, after hours of earlier steps.
#   closes: [S41]
#   remediation: Write the list in withItems, or as JSON in withParam.
package usher.checks.scaling.with_param_is_no_list

import data.usher.lib.argo
import data.usher.lib.text

deny contains finding if {
	some param in argo.params
	param.value != ""
	not contains(param.value, "{{")
	not contains(param.value, "{%")
	not _is_list(param.value)

	finding := {
		"path": param.path,
		"message": $"withParam {text.excerpt(param.value)} is not a JSON list",
		"remedy": "write the list in withItems",
	}
}

# Argo reads null as an empty list.
_is_list(value) if trim_space(value) == "null"

_is_list(value) if {
	json.is_valid(value)
	startswith(trim_space(value), "[")
}
