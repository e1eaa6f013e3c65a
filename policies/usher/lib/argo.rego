# METADATA
# title: Argo
# description: Fields that the kinds of Argo Workflows have in common.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.argo

# METADATA
# title: Specification of the workflow
# description: |
#   The field differs by kind. A workflow that takes its specification from another object has only its own fields.
spec := input.object.workflow.spec

spec := input.object.cronWorkflow.spec.workflowSpec

spec := input.object.workflowTemplate.spec

spec := input.object.clusterWorkflowTemplate.spec

# METADATA
# title: Path of the specification
path := "/spec/workflowSpec" if input.object.cronWorkflow

path := "/spec" if not input.object.cronWorkflow

# METADATA
# title: Lists of items
# description: Every `withParam` of steps and tasks in the templates of the object itself, with its path.
params := array.concat(_of_steps, _of_tasks)

_of_steps := [{"path": $"{path}/templates/{t}/steps/{g}/{s}/withParam", "value": value} |
	value := spec.templates[t].steps[g][s].withParam
]

_of_tasks := [{"path": $"{path}/templates/{t}/dag/tasks/{k}/withParam", "value": value} |
	value := spec.templates[t].dag.tasks[k].withParam
]

# METADATA
# title: Whether runs of a CronWorkflow may overlap
# description: True unless its policy is Forbid or Replace.
runs_overlap if {
	input.object.cronWorkflow
	not object.get(input.object.cronWorkflow, ["spec", "concurrencyPolicy"], "") in ["Forbid", "Replace"]
}
