package usher.checks.scaling.with_param_is_no_list_test

import data.examples.checks.scaling.with_param_is_no_list as examples
import data.usher.checks.scaling.with_param_is_no_list as check

no_list(path, value) := {{
	"path": path,
	"message": $"withParam {value} is not a JSON list",
	"remedy": "write the list in withItems",
}}

with_param(value) := json.patch(examples.good_workflow, [{
	"op": "replace",
	"path": "/object/workflow/spec/templates/0/steps/0/0/withParam",
	"value": value,
}])

test_what_is_no_json_is_found if {
	check.deny == no_list("/spec/templates/0/steps/0/0/withParam", `"small,medium,large"`) with input as examples.bad_workflow
	check.deny == no_list(
		"/spec/workflowSpec/templates/0/steps/0/0/withParam",
		`"[1, 2"`,
	) with input as examples.bad_cron_workflow
}

test_what_is_json_but_no_list_is_found if {
	check.deny == no_list(
		"/spec/templates/0/dag/tasks/0/withParam",
		`"{\"seed\": 1}"`,
	) with input as examples.bad_workflow_template
}

test_lists_are_good if {
	check.deny == set() with input as examples.good_workflow
	check.deny == set() with input as with_param(" [] ")
	check.deny == set() with input as with_param("null ")
}

test_a_parameter_may_become_a_list if {
	check.deny == set() with input as examples.good_workflow_template
}

test_no_list_at_all_is_good if {
	check.deny == set() with input as with_param("")
}

test_jinja_is_for_another_check if {
	check.deny == set() with input as with_param("{% raw %}")
}
