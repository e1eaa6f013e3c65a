package usher.checks.scaling.jinja_in_with_param_test

import data.examples.checks.scaling.jinja_in_with_param as examples
import data.usher.checks.scaling.jinja_in_with_param as check

jinja(path, value) := {{
	"path": path,
	"message": $"Argo does not run Jinja, so {value} is not a JSON list",
	"remedy": "write the list in withItems, or count with withSequence",
}}

with_param(value) := json.patch(examples.good_workflow, [{
	"op": "replace",
	"path": "/object/workflow/spec/templates/0/steps/0/0/withParam",
	"value": value,
}])

test_jinja_is_found_in_steps_and_tasks if {
	check.deny == jinja(
		"/spec/templates/0/steps/0/0/withParam",
		`"[{% for i in range(12) %}{{ i }},{% e..."`,
	) with input as examples.bad_workflow
	check.deny == jinja(
		"/spec/templates/0/dag/tasks/0/withParam",
		`"{% raw %}[1, 2]{% endraw %}"`,
	) with input as examples.bad_workflow_template
}

test_it_is_found_in_what_a_schedule_runs if {
	check.deny == jinja(
		"/spec/workflowSpec/templates/0/steps/0/0/withParam",
		`"[{% for s in seeds %}1,{% endfor %}2]"`,
	) with input as examples.bad_cron_workflow
}

test_parameters_and_lists_are_good if {
	check.deny == set() with input as examples.good_workflow
	check.deny == set() with input as examples.good_workflow_template
}

test_a_list_may_hold_such_a_text if {
	check.deny == set() with input as with_param(`["{% for %}"]`)
}

test_an_expression_may_hold_such_a_text if {
	check.deny == set() with input as with_param(` {{=toJson(["{% for %}"])}}`)
}
