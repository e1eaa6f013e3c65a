package usher.checks.placement.more_than_the_node_pool_may_add_test

import data.examples.checks.placement.more_than_the_node_pool_may_add as examples
import data.usher.checks.placement.more_than_the_node_pool_may_add as check

test_replicas_above_the_limits_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector",
		"message": "the pods ask for 3 of nvidia.com/gpu together, and the limits of NodePool two allow 2",
		"remedy": "run fewer pods, select another NodePool, or raise limits of the NodePool",
	}} with input as examples.bad_deployment
}

test_a_pod_set_is_named if {
	named := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/podSets/0/name", "value": "Worker"}])
	{finding.message | some finding in check.deny} == {"the pods of Worker ask for 3 of nvidia.com/gpu together, and the limits of NodePool two allow 2"} with input as named
}

test_replicas_within_the_limits_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_rollout_above_the_limits_is_found if {
	check.deny == {{
		"path": "/spec/strategy",
		"message": "a rollout asks for 3 of nvidia.com/gpu at once, and the limits of NodePool two allow 2, so it never ends",
		"remedy": "set maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate",
	}} with input as examples.bad_rollout
	check.deny == set() with input as object.union(examples.bad_rollout, {"workload": {"owned": true}})
}

test_limits_of_pools_whose_taints_pods_tolerate_are_an_assumption if {
	some path, _ in examples.bad_deployment.cluster.nodePools.beyondLimits
	assumed := object.union(examples.bad_deployment, {"cluster": {"nodePools": {"beyondLimits": {path: {"assumed": "no others"}}}}})
	{finding.assumption | some finding in check.deny} == {"no others"} with input as assumed
}
