package usher.checks.objects.taint_that_operators_do_not_tolerate_test

import data.examples.checks.objects.taint_that_operators_do_not_tolerate as examples
import data.usher.checks.objects.taint_that_operators_do_not_tolerate as check

found(path, key, effect) := {
	"path": path,
	"message": $"the node has GPUs but offers 0, and the DaemonSets of NVIDIA's operator do not tolerate its taint {key}:{effect}",
	"remedy": $"tolerate {key} in daemonsets.tolerations of the operator, or taint the node with nvidia.com/gpu instead",
	"assumption": "usher assumes that daemonsets.tolerations of NVIDIA's operator has its default",
}

test_a_taint_of_another_key_is_found if {
	check.deny == {found("/spec/taints/1", "mig-enabled", "NoSchedule")} with input as examples.bad_node
	check.deny == {found("/spec/taints/0", "gpu", "NoExecute")} with input as examples.bad_node_with_another_effect
}

test_the_usual_taint_with_another_effect_is_found if {
	check.deny == {found("/spec/taints/0", "nvidia.com/gpu", "NoExecute")} with input as examples.bad_node_that_evicts
}

test_the_usual_taint_is_good if {
	check.deny == set() with input as examples.good_node
}

test_where_gpus_are_offered_something_tolerates_the_taint if {
	check.deny == set() with input as examples.good_node_that_offers_gpus
	gone := json.patch(examples.good_node_that_offers_gpus, [{
		"op": "replace",
		"path": "/object/node/status/capacity/nvidia.com~1gpu/value",
		"value": 0,
	}])
	check.deny == {found("/spec/taints/0", "sku", "NoSchedule")} with input as gone
}

test_nodes_that_are_not_labelled_are_left_alone if {
	check.deny == set() with input as examples.good_cpu_node
}

test_the_operator_may_tolerate_more if {
	named := {"site": {"parameters": {"objects/taint_that_operators_do_not_tolerate": {"tolerated": ["mig-enabled:NoSchedule"]}}}}
	check.deny == {found("/spec/taints/0", "nvidia.com/gpu", "NoSchedule")} with input as object.union(examples.bad_node, named)
}
