package usher.checks.serving.killed_while_draining_test

import data.examples.checks.serving.killed_while_draining as examples
import data.usher.checks.serving.killed_while_draining as check

found(path, name, grace, uses, least) := {{
	"path": path,
	"message": $"the kubelet kills container {name} {grace} seconds after the stop of its pod begins, but {uses}",
	"remedy": $"set terminationGracePeriodSeconds to more than {least}",
}}

_server := "/spec/template/spec/containers/0"

test_the_hook_and_the_server_count_together if {
	uses := "its preStop hook sleeps for 15 seconds, and its server may then need 120 seconds for its requests"
	check.deny == found(_server, "server", 30, uses, 135) with input as examples.bad_hook_and_server
}

test_a_server_alone_may_need_too_long if {
	check.deny == found(_server, "server", 60, "its server may need 90 seconds for its requests", 90) with input as examples.bad_server
	check.deny == found("/spec/containers/0", "triton", 30, "its server may need 60 seconds for its requests", 60) with input as examples.bad_triton
}

test_a_hook_may_use_all_the_time if {
	uses := "its preStop hook sleeps for 30 seconds, so the server has no time after SIGTERM"
	check.deny == found(_server, "server", 30, uses, 30) with input as examples.bad_hook
}

test_enough_time_is_good if {
	check.deny == set() with input as examples.good_time_for_both
	check.deny == set() with input as examples.good_short_hook
	exact := [{"op": "replace", "path": "/podSets/0/terminationGracePeriodSeconds", "value": 135}]
	check.deny == set() with input as json.patch(examples.good_time_for_both, exact)
}

test_a_hook_that_sleeps_for_a_day_is_reported_elsewhere if {
	long := [{"op": "replace", "path": "/podSets/0/containers/0/lifecycle/preStop/sleepSeconds", "value": 86400}]
	check.deny == set() with input as json.patch(examples.bad_hook, long)
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_hook, owned)
}
