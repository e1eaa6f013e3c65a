# METADATA
# title: Argo
# description: What the kinds of Argo Workflows have in common.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.argo

# METADATA
# title: Specification of the workflow
# description: Wherever the kind keeps it; of one that takes all of it from another object, what is its own.
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
# description: |
#   Every `withParam` of steps and tasks, which stand in the templates of the object itself, with its place.
params := array.concat(_of_steps, _of_tasks)

_of_steps := [{"path": $"{path}/templates/{t}/steps/{g}/{s}/withParam", "value": value} |
	value := spec.templates[t].steps[g][s].withParam
]

_of_tasks := [{"path": $"{path}/templates/{t}/dag/tasks/{k}/withParam", "value": value} |
	value := spec.templates[t].dag.tasks[k].withParam
]

# METADATA
# title: Whether runs of a CronWorkflow may overlap
# description: They may unless its policy is one of those that keep them apart.
runs_overlap if {
	input.object.cronWorkflow
	not object.get(input.object.cronWorkflow, ["spec", "concurrencyPolicy"], "") in {"Forbid", "Replace"}
}
