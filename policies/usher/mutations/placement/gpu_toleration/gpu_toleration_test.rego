package usher.mutations.placement.gpu_toleration_test

import data.examples.mutations.placement.gpu_toleration as examples
import data.usher.mutations.placement.gpu_toleration as mutation

test_only_the_taints_that_are_not_tolerated_yet_are_tolerated if {
	mutation.intents == {{
		"at": "",
		"field": "toleration",
		"value": {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
		"reason": "nodes of pool h100 carry the taint nvidia.com/gpu",
	}} with input as examples.before_pod
}

test_a_pod_that_asks_for_no_accelerator_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_cpu_pod
}

test_without_declared_pools_the_usual_taint_is_tolerated if {
	undeclared := json.patch(examples.before_pod, [
		{"op": "replace", "path": "/podSets/0/fits", "value": []},
		{"op": "replace", "path": "/podSets/0/assumedTaints", "value": ["nvidia.com/gpu"]},
	])
	mutation.intents == {{
		"at": "",
		"field": "toleration",
		"value": {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
		"reason": "such nodes usually carry the taint nvidia.com/gpu",
	}} with input as undeclared
}
