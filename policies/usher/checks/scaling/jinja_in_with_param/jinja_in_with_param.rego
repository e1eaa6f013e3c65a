# METADATA
# title: Lists of items are not written in Jinja
# description: |
#   Argo fills parameters in ({{...}}) and then reads withParam as a list in JSON. It knows no statements: a loop such as
#   {% for i in range(12) %} is not run but taken as it stands, which is no JSON, and the workflow ends in an error as
#   soon as it comes to the step.
# scope: package
# related_resources:
#   - ref: https://argo-workflows.readthedocs.io/en/latest/walk-through/loops/
#     description: Argo Workflows on loops
# schemas:
#   - input: schema.input
# custom:
#   code: USH1107
#   about: objects
#   kinds: [workflow, cronWorkflow, workflowTemplate, clusterWorkflowTemplate]
#   severity: high
#   why: The workflow ends in an error when it comes to this step, after all the hours before it.
#   closes: [S41]
#   remediation: |
#     Write the list itself in withItems, count with withSequence, or let an earlier step print a list in JSON and name
#     its result.
package usher.checks.scaling.jinja_in_with_param

import data.usher.lib.argo
import data.usher.lib.text

deny contains finding if {
	some param in argo.params
	contains(param.value, "{%")
	not json.is_valid(param.value)
	not startswith(trim_space(param.value), "{{=")

	finding := {
		"path": param.path,
		"message": $"Argo runs no Jinja, so {text.excerpt(param.value)} is no list of items",
		"remedy": "write the list in withItems, or count with withSequence",
	}
}
