package usher.checks.scaling.rollout_waits_for_accelerators_test

import data.examples.checks.scaling.rollout_waits_for_accelerators as examples
import data.usher.checks.scaling.rollout_waits_for_accelerators as check

waits(pods) := {{
	"path": "/spec/strategy",
	"message": $"a rollout starts {pods} before it stops an old one, and hangs while no accelerators are free for the start",
	"remedy": "set maxSurge 0 and maxUnavailable 1 to stop an old pod first, or keep accelerators free",
}}

of(replicas, surge, unavailable) := json.patch(examples.bad_deployment_of_eight, [
	{"op": "replace", "path": "/workload/pods", "value": {"minimum": replicas, "maximum": replicas + surge}},
	{
		"op": "replace",
		"path": "/object/deployment/spec/strategy/rollingUpdate/maxUnavailable",
		"value": unavailable,
	},
])

test_by_default_a_few_replicas_may_not_be_fewer if {
	check.deny == waits("1 new pod") with input as examples.bad_deployment
}

test_none_may_be_missing_where_the_strategy_says_so if {
	check.deny == waits("2 new pods") with input as examples.bad_deployment_of_eight
	check.deny == waits("1 new pod") with input as examples.bad_deployment_of_three
}

test_what_may_be_missing_is_rounded_down if {
	check.deny == waits("1 new pod") with input as of(3, 1, "33%")
	check.deny == set() with input as of(4, 1, "25%")
	check.deny == set() with input as of(3, 1, "34%")
	check.deny == set() with input as of(3, 1, 1)
}

test_one_old_pod_may_go_first if {
	check.deny == set() with input as examples.good_deployment_of_four
}

test_without_more_pods_there_is_nothing_to_wait_for if {
	check.deny == set() with input as examples.good_deployment_without_surge
	check.deny == set() with input as examples.good_deployment_that_is_recreated
	check.deny == set() with input as of(4, 0, 0)
}

test_other_kinds_roll_out_in_other_ways if {
	check.deny == set() with input as json.remove(examples.bad_deployment, ["/object/deployment"])
}

test_pods_without_accelerators_wait_for_none if {
	check.deny == set() with input as json.patch(examples.bad_deployment, [{
		"op": "replace",
		"path": "/podSets/0/asksAccelerators",
		"value": false,
	}])
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as object.union(examples.bad_deployment, {"workload": {"owned": true}})
}

test_a_canary_that_moves_requests_keeps_the_old_pods if {
	{finding.message | some finding in check.deny} == {"a rollout starts 4 new pods before it stops an old one, and hangs while no accelerators are free for the start"} with input as examples.bad_rollout
}
