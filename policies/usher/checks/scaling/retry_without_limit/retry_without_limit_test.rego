package usher.checks.scaling.retry_without_limit_test

import data.examples.checks.scaling.retry_without_limit as examples
import data.usher.checks.scaling.retry_without_limit as check

endless(path, name) := {{
	"path": $"{path}/retryStrategy",
	"message": $"{name} asks for accelerators and retries forever, because its retryStrategy has no limit",
	"remedy": "set limit of the retryStrategy",
}}

with_strategy(strategy) := json.patch(examples.bad_workflow, [{
	"op": "replace",
	"path": "/object/workflow/spec/templates/0/retryStrategy",
	"value": strategy,
}])

test_a_strategy_without_a_limit_is_found if {
	check.deny == endless("/spec/templates/0", "train") with input as examples.bad_workflow
	check.deny == endless("/spec/workflowSpec/templates/1", "score") with input as examples.bad_cron_workflow
}

test_it_is_found_where_it_is_the_default_of_all if {
	check.deny == endless("/spec/templateDefaults", "embed") with input as examples.bad_workflow_template
}

test_what_a_template_says_itself_is_not_said_again if {
	own := json.patch(examples.bad_workflow_template, [{
		"op": "add",
		"path": "/object/workflowTemplate/spec/templates/1/retryStrategy",
		"value": {"retryPolicy": "Always"},
	}])
	check.deny == endless("/spec/templates/1", "embed") with input as own
}

test_a_limit_is_good if {
	check.deny == set() with input as examples.good_workflow
}

test_a_limit_may_come_from_the_defaults if {
	check.deny == set() with input as examples.good_workflow_template
}

test_other_ends_are_good if {
	check.deny == set() with input as examples.good_workflow_with_a_deadline
	check.deny == set() with input as with_strategy({"backoff": {"maxDuration": "2h"}})
	check.deny == set() with input as with_strategy({"expression": "asInt(lastRetry.exitCode) == 137"})
	check.deny == endless("/spec/templates/0", "train") with input as with_strategy({"backoff": {}})
}

test_a_limit_may_be_a_parameter_or_none_at_all if {
	check.deny == set() with input as with_strategy({"limit": "{{inputs.parameters.tries}}"})
	check.deny == set() with input as with_strategy({"limit": 0})
}

test_templates_without_a_strategy_are_tried_once if {
	check.deny == set() with input as json.remove(
		examples.bad_workflow,
		["/object/workflow/spec/templates/0/retryStrategy"],
	)
}

test_steps_without_accelerators_may_be_tried_again if {
	check.deny == set() with input as json.patch(examples.bad_workflow, [{
		"op": "replace",
		"path": "/podSets/0/asksAccelerators",
		"value": false,
	}])
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"owned": true}})
}

test_other_kinds_have_other_retries if {
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"group": "tekton.dev"}})
}
