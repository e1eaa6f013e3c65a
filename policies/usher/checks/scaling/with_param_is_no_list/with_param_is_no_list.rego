# METADATA
# title: Lists of items are lists in JSON
# description: |
#   withParam is a text that holds a list in JSON, once its parameters are filled in. One that has no parameters and is no
#   such list, as a few words with commas between them, makes the workflow end in an error as soon as it comes to the
#   step. Lists that stand in the manifest are better written in withItems, which takes them as they are.
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
#   why: The workflow ends in an error when it comes to this step, after all the hours before it.
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
		"message": $"withParam {text.excerpt(param.value)} is no list in JSON",
		"remedy": "write the list in withItems",
	}
}

# Argo takes null for a list of nothing.
_is_list(value) if trim_space(value) == "null"

_is_list(value) if {
	json.is_valid(value)
	startswith(trim_space(value), "[")
}
