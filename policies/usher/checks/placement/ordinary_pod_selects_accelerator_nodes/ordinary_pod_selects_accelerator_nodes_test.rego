package usher.checks.placement.ordinary_pod_selects_accelerator_nodes_test

import data.examples.checks.placement.ordinary_pod_selects_accelerator_nodes as examples
import data.usher.checks.placement.ordinary_pod_selects_accelerator_nodes as check

found(path, name) := {
	"path": path,
	"message": $"{name} asks for no accelerator, but selects only accelerator nodes",
	"remedy": "select other nodes, or ask for the accelerator that the pod uses",
}

test_a_selector_of_a_pool_is_found if {
	check.deny == {found("/spec/template/spec/nodeSelector", "the pod")} with input as examples.bad_deployment
	check.deny == {found("/spec/headGroupSpec/template/spec/nodeSelector", "head")} with input as examples.bad_raycluster
}

test_affinity_to_pools_alone_is_found if {
	check.deny == {found("/spec/template/spec/affinity", "the pod")} with input as examples.bad_job
}

test_one_alternative_elsewhere_is_enough if {
	check.deny == set() with input as examples.good_job
}

test_pods_that_may_run_anywhere_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_pods_that_belong_on_every_node_may_select_some if {
	check.deny == set() with input as examples.good_daemonset
}

test_a_claim_that_is_not_known_may_be_for_an_accelerator if {
	check.deny == set() with input as examples.good_pod_with_a_claim
}

test_accelerator_pods_belong_there if {
	check.deny == set() with input as examples.good_pod
}

test_without_declared_pools_the_usual_labels_are_assumed if {
	undeclared := json.patch(examples.bad_deployment, [{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false}])
	check.deny == {object.union(found("/spec/template/spec/nodeSelector", "the pod"), {
		"assumption": "usher assumes that nodes with these labels have accelerators, because usher.yaml declares no node pools",
	})} with input as undeclared
}
