package usher.checks.objects.accelerator_node_without_taint_test

import data.examples.checks.objects.accelerator_node_without_taint as examples
import data.usher.checks.objects.accelerator_node_without_taint as check

found(names) := {
	"path": "/spec/taints",
	"message": $"the node has {names}, but no taint that keeps other pods off",
	"remedy": "taint the nodes of this pool, for example with nvidia.com/gpu=present:NoSchedule",
}

test_a_node_without_taints_is_found if {
	check.deny == {found("nvidia.com/gpu")} with input as examples.bad_node
}

test_taints_that_come_and_go_guard_nothing if {
	check.deny == {found("nvidia.com/gpu")} with input as examples.bad_node_that_is_cordoned
	check.deny == {found("nvidia.com/gpu")} with input as with_taints([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])
	check.deny == {found("nvidia.com/gpu")} with input as with_taints([{
		"key": "node.cloudprovider.kubernetes.io/uninitialized",
		"effect": "NoSchedule",
	}])
	check.deny == {found("nvidia.com/gpu")} with input as with_taints([{
		"key": "ToBeDeletedByClusterAutoscaler",
		"effect": "NoSchedule",
	}])
}

with_taints(taints) := object.union(examples.bad_node, {"object": {"node": {"spec": {"taints": taints}}}})

test_a_preference_keeps_nobody_off if {
	check.deny == {found("nvidia.com/mig-1g.10gb and nvidia.com/mig-3g.40gb")} with input as examples.bad_node_of_slices
}

test_any_taint_that_stays_will_do if {
	check.deny == set() with input as examples.good_node
	check.deny == set() with input as with_taints([{"key": "sku", "value": "gpu", "effect": "NoExecute"}])
}

test_nodes_without_accelerators_need_none if {
	check.deny == set() with input as examples.good_cpu_node
	check.deny == set() with input as examples.good_node_whose_gpus_are_gone
}

test_the_taint_is_named_after_the_devices_of_the_node if {
	node := object.union(examples.bad_node, {"object": {"node": {"status": {"capacity": {"amd.com/gpu": {"value": 8}}}}}})
	amd := json.remove(node, ["object/node/status/capacity/nvidia.com~1gpu"])
	{finding.remedy | some finding in check.deny} == {"taint the nodes of this pool, for example with amd.com/gpu=present:NoSchedule"} with input as amd
}

test_a_node_pool_of_gpus_without_a_taint_is_found if {
	wanted := {{
		"path": "/spec/template/spec/taints",
		"message": "the NodePool allows only machines with GPUs, but has no taint that keeps other pods off",
		"remedy": "taint its nodes, for example with nvidia.com/gpu=present:NoSchedule",
	}}
	check.deny == wanted with input as examples.bad_node_pool
	check.deny == wanted with input as examples.bad_node_pool_by_gpu
}

test_a_node_pool_of_neuron_is_told_its_own_key if {
	family := [{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["inf2"]}]
	pool := {"object": {"nodePool": {"spec": {"template": {"spec": {"requirements": family}}}}}}
	{finding.remedy | some finding in check.deny} == {"taint its nodes, for example with aws.amazon.com/neuron=present:NoSchedule"} with input as pool
}

test_node_pools_with_a_taint_and_with_other_machines_are_good if {
	check.deny == set() with input as examples.good_node_pool
	check.deny == set() with input as examples.good_node_pool_of_many_machines
}
