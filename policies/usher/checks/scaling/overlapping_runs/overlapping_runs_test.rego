package usher.checks.scaling.overlapping_runs_test

import data.examples.checks.scaling.overlapping_runs as examples
import data.usher.checks.scaling.overlapping_runs as check

overlapping := {{
	"path": "/spec/concurrencyPolicy",
	"message": "concurrencyPolicy is Allow (the default), so runs that wait for accelerators pile up",
	"remedy": "set concurrencyPolicy to Forbid or Replace",
}}

test_a_schedule_without_a_policy_is_found if {
	check.deny == overlapping with input as examples.bad_cronjob
	check.deny == overlapping with input as examples.bad_volcano_cronjob
}

test_a_policy_that_lets_runs_overlap_is_found if {
	check.deny == overlapping with input as examples.bad_cron_workflow
}

test_a_policy_that_keeps_runs_apart_is_good if {
	check.deny == set() with input as examples.good_cronjob
	check.deny == set() with input as examples.good_cron_workflow
}

test_a_daemon_set_has_no_runs if {
	check.deny == set() with input as object.union(examples.bad_cronjob, {"workload": {"kind": "DaemonSet"}})
}

test_runs_without_accelerators_may_overlap if {
	every document in [examples.bad_cronjob, examples.bad_cron_workflow] {
		without := json.patch(document, [{"op": "replace", "path": "/podSets/0/asksAccelerators", "value": false}])
		check.deny == set() with input as without
	}
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_cronjob, {"workload": {"owned": true}})
}
