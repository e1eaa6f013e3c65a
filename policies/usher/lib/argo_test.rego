package usher.lib.argo_test

import data.usher.lib.argo

spec := {"templates": [
	{},
	{"steps": [[{}], [{}, {"withParam": "[1]"}]]},
	{"dag": {"tasks": [{"withParam": "[2]"}, {}]}},
]}

found(path) := [
	{"path": $"{path}/templates/1/steps/1/1/withParam", "value": "[1]"},
	{"path": $"{path}/templates/2/dag/tasks/0/withParam", "value": "[2]"},
]

test_every_kind_has_its_specification_at_its_place if {
	every key in ["workflow", "workflowTemplate", "clusterWorkflowTemplate"] {
		argo.spec == spec with input as {"object": {key: {"spec": spec}}}
		argo.path == "/spec" with input as {"object": {key: {"spec": spec}}}
	}
	argo.spec == spec with input as {"object": {"cronWorkflow": {"spec": {"workflowSpec": spec}}}}
	argo.path == "/spec/workflowSpec" with input as {"object": {"cronWorkflow": {"spec": {"workflowSpec": spec}}}}
}

test_items_of_steps_and_of_tasks_are_found if {
	argo.params == found("/spec") with input as {"object": {"workflow": {"spec": spec}}}
	argo.params == found("/spec/workflowSpec") with input as {"object": {"cronWorkflow": {"spec": {"workflowSpec": spec}}}}
}

test_a_workflow_without_templates_has_none if {
	argo.params == [] with input as {"object": {"workflow": {"spec": {}}}}
}

test_runs_overlap_unless_a_policy_keeps_them_apart if {
	every cron_workflow in [{}, {"spec": {}}, {"spec": {"concurrencyPolicy": "Allow"}}] {
		argo.runs_overlap with input as {"object": {"cronWorkflow": cron_workflow}}
	}
	every policy in ["Forbid", "Replace"] {
		not argo.runs_overlap with input as {"object": {"cronWorkflow": {"spec": {"concurrencyPolicy": policy}}}}
	}
	not argo.runs_overlap with input as {"object": {"workflow": {}}}
}
