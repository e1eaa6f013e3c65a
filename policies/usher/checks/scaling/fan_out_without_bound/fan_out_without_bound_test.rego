package usher.checks.scaling.fan_out_without_bound_test

import data.examples.checks.scaling.fan_out_without_bound as examples
import data.usher.checks.scaling.fan_out_without_bound as check

found(path, name, field) := {{
	"path": path,
	"message": $"the number of pods of {name} that run at once has no bound, and each asks for accelerators",
	"remedy": $"set {field}.parallelism, or parallelism of the template that fans out",
}}

test_items_that_only_the_run_knows_are_found if {
	check.deny == found("/spec/templates/1", "train", "spec") with input as examples.bad_workflow
	check.deny == found("/spec/templates/1", "embed", "spec") with input as examples.bad_workflow_template
}

test_they_are_found_in_every_run_of_a_schedule if {
	check.deny == found(
		"/spec/workflowSpec/templates/1",
		"score",
		"spec.workflowSpec",
	) with input as examples.bad_cron_workflow
}

test_runs_that_overlap_are_for_another_check if {
	check.deny == set() with input as examples.good_cron_workflow_whose_runs_overlap
}

test_parallelism_bounds_it if {
	check.deny == set() with input as examples.good_workflow
	check.deny == set() with input as examples.good_workflow_with_a_bounded_template
}

test_items_that_can_be_counted_are_good if {
	check.deny == set() with input as examples.good_workflow_of_three_items
}

test_pods_without_accelerators_may_be_many if {
	check.deny == set() with input as json.patch(examples.bad_workflow, [{
		"op": "replace",
		"path": "/podSets/1/asksAccelerators",
		"value": false,
	}])
}

test_other_kinds_without_bound_are_for_other_checks if {
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"group": "apps"}})
}

test_kinds_without_workflows_have_no_runs if {
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"kind": "AnalysisTemplate"}})
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_workflow, {"workload": {"owned": true}})
}
