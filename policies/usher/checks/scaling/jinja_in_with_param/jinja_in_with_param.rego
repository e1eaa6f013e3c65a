# METADATA
# title: withParam does not contain Jinja statements
# description: |
#   Argo replaces parameters ({{...}}) and then reads withParam as a JSON list. Argo does not run statements, for
#   example the loop {% for i in range(12) %}. It keeps them as text, so withParam is not valid JSON, and the workflow
#   fails at this step.
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
#   why: The workflow fails when it reaches this step, after hours of earlier steps.
#   closes: [S41]
#   remediation: |
#     Write the list itself in withItems, or count with withSequence. Or let an earlier step print a JSON list and refer
#     to its result.
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
		"message": $"Argo does not run Jinja, so {text.excerpt(param.value)} is not a JSON list",
		"remedy": "write the list in withItems, or count with withSequence",
	}
}
