package usher.checks.placement.ordinary_pod_tolerates_accelerator_taint_test

import data.examples.checks.placement.ordinary_pod_tolerates_accelerator_taint as examples
import data.usher.checks.placement.ordinary_pod_tolerates_accelerator_taint as check

found(path, name) := {
	"path": path,
	"message": $"{name} asks for no accelerator, but tolerates nvidia.com/gpu, the taint that keeps ordinary pods off accelerator nodes",
	"remedy": "remove this toleration",
}

test_the_toleration_that_opens_a_pool_is_found if {
	check.deny == {found("/spec/template/spec/tolerations/1", "the pod")} with input as examples.bad_deployment
}

test_launchers_and_heads_are_ordinary_pods if {
	check.deny == {found(
		"/spec/mpiReplicaSpecs/Launcher/template/spec/tolerations/0",
		"Launcher",
	)} with input as examples.bad_mpijob
	check.deny == {found("/spec/headGroupSpec/template/spec/tolerations/0", "head")} with input as examples.bad_raycluster
}

test_it_is_pointed_at_where_the_kind_keeps_tolerations if {
	check.deny == {found("/spec/podTemplate/tolerations/0", "the pod")} with input as examples.bad_taskrun
}

test_a_taint_beside_the_one_that_guards_the_pool_opens_nothing if {
	check.deny == set() with input as examples.good_deployment_on_spot_nodes
}

test_a_selector_of_other_nodes_keeps_the_pods_away if {
	check.deny == set() with input as examples.good_statefulset_on_cpu_nodes
}

test_pods_that_belong_on_every_node_may_tolerate_it if {
	check.deny == set() with input as examples.good_daemonset
	check.deny == set() with input as object.union(examples.bad_deployment, {"site": {"systemNamespace": true}})
}

test_a_claim_that_is_not_known_may_be_for_an_accelerator if {
	check.deny == set() with input as examples.good_pod_with_a_claim
}

test_what_tolerates_everything_is_found_elsewhere if {
	check.deny == set() with input as examples.good_job_that_tolerates_everything
}

test_without_declared_pools_a_toleration_opens_no_pool_that_usher_knows if {
	undeclared := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false}])
	check.deny == set() with input as undeclared
}

test_the_taints_of_nodes_are_not_assumed if {
	read := json.patch(examples.bad_deployment, [
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
		{"op": "add", "path": "/podSets/0/poolsFound", "value": true},
	])
	check.deny == {found("/spec/template/spec/tolerations/1", "the pod")} with input as read
}
