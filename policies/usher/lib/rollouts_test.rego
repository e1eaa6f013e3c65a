package usher.lib.rollouts_test

import data.examples.checks.scaling.rollout_waits_for_accelerators as examples
import data.usher.lib.rollouts

of(replicas, surge, unavailable) := json.patch(examples.bad_deployment_of_eight, [
	{"op": "replace", "path": "/workload/pods", "value": {"minimum": replicas, "maximum": replicas + surge}},
	{
		"op": "replace",
		"path": "/object/deployment/spec/strategy/rollingUpdate/maxUnavailable",
		"value": unavailable,
	},
])

test_by_default_a_few_replicas_may_not_be_fewer if {
	rollouts.surge_before_stopping == 1 with input as examples.bad_deployment
	rollouts.surge_before_stopping == 2 with input as examples.bad_deployment_of_eight
}

test_what_may_be_missing_is_rounded_down if {
	rollouts.surge_before_stopping == 1 with input as of(3, 1, "33%")
	not rollouts.surge_before_stopping with input as of(4, 1, "25%")
	not rollouts.surge_before_stopping with input as of(3, 1, 1)
}

test_without_more_pods_nothing_surges if {
	not rollouts.surge_before_stopping with input as of(4, 0, 0)
	not rollouts.surge_before_stopping with input as json.remove(examples.bad_deployment, ["/object/deployment"])
}

of_argo(strategy) := {
	"object": {"rollout": {"spec": {"strategy": strategy}}},
	"workload": {"pods": {"minimum": 4, "maximum": 8}},
}

test_a_rollout_of_argo_may_keep_all_old_pods if {
	rollouts.surge_before_stopping == 4 with input as of_argo({"blueGreen": {}})
	rollouts.surge_before_stopping == 4 with input as of_argo({"canary": {"trafficRouting": {}}})
	rollouts.surge_before_stopping == 4 with input as of_argo({"canary": {"maxUnavailable": 0}})
	not rollouts.surge_before_stopping with input as of_argo({"canary": {"maxUnavailable": 1}})
	not rollouts.surge_before_stopping with input as of_argo({"canary": {}})
}

test_pods_that_are_recreated_do_not_surge if {
	recreated := [{"op": "add", "path": "/object/deployment/spec/strategy", "value": {"type": "Recreate"}}]
	not rollouts.surge_before_stopping with input as json.patch(examples.bad_deployment, recreated)
}
