package usher.mutations.placement.gpu_toleration_test

import data.examples.mutations.placement.gpu_toleration as examples
import data.usher.mutations.placement.gpu_toleration as mutation

test_only_the_taints_that_are_not_tolerated_yet_are_tolerated if {
	mutation.intents == {{
		"at": "",
		"field": "toleration",
		"value": {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
		"reason": "nodes of pool h100 have the taint nvidia.com/gpu",
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
		"reason": "nodes with this accelerator usually have the taint nvidia.com/gpu",
	}} with input as undeclared
}

test_what_is_given_a_toleration_is_not_explained_away if {
	mutation.skips == set() with input as examples.before_pod
	mutation.skips == set() with input as assuming(["nvidia.com/gpu"])
}

test_a_pod_that_tolerates_all_that_its_pools_ask_for_is_left_alone if {
	tolerating := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits/0/untolerated", "value": []}])
	mutation.intents == set() with input as tolerating
	mutation.skips == skipped("the pod already tolerates the taints of all pools on which it can run") with input as tolerating
}

test_a_pod_that_no_pool_fits_is_left_alone if {
	homeless := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	mutation.skips == skipped("no declared node pool has what the pod asks for") with input as homeless
}

test_a_pod_that_tolerates_what_is_usual_is_left_alone if {
	reason := "the pod already tolerates the usual taint, or usher knows no usual taint for these nodes"
	mutation.skips == skipped(reason) with input as assuming([])
}

test_devices_that_no_declared_pool_offers_get_no_toleration if {
	reason := "the pod already tolerates the usual taint, or usher knows no usual taint for these nodes"
	mutation.intents == set() with input as examples.untouched_claim_of_another_vendor
	mutation.skips == skipped(reason) with input as examples.untouched_claim_of_another_vendor
}

test_devices_whose_pools_are_not_known_get_no_toleration if {
	mutation.intents == set() with input as examples.untouched_claim_of_unmatched_class
	mutation.skips == skipped(unmatched) with input as examples.untouched_claim_of_unmatched_class
}

test_a_taint_that_says_for_whom_a_pool_is_gets_no_toleration if {
	mutation.intents == set() with input as examples.untouched_pod_of_a_reserved_pool
	mutation.skips == skipped("pool reserved has the taint dedicated=training:NoSchedule, which says for whom its nodes are") with input as examples.untouched_pod_of_a_reserved_pool
}

test_a_taint_beside_one_of_another_purpose_gets_no_toleration_either if {
	# A pod that enters only half of a pool would wait as before.
	both := json.patch(examples.untouched_pod_of_a_reserved_pool, [{
		"op": "add",
		"path": "/podSets/0/fits/0/untolerated/-",
		"value": {"key": "aws.amazon.com/neuron", "value": "", "effect": "NoSchedule", "operator": "Exists"},
	}])
	mutation.intents == set() with input as both
}

test_a_pool_that_is_kept_for_others_changes_nothing_beside_an_open_one if {
	open := {"pool": "open", "labels": {}, "untolerated": []}
	several := json.patch(examples.untouched_pod_of_a_reserved_pool, [{
		"op": "add",
		"path": "/podSets/0/fits/0",
		"value": open,
	}])
	mutation.intents == set() with input as several
	mutation.skips == skipped("the pod already tolerates the taints of all pools on which it can run") with input as several
}

test_a_pool_that_is_for_the_pods_is_tolerated_with_exactly_its_value if {
	addressed := json.patch(examples.untouched_pod_of_a_reserved_pool, [{
		"op": "add",
		"path": "/podSets/0/fits/0/untolerated/0/operator",
		"value": "Equal",
	}])
	mutation.intents == {{
		"at": "",
		"field": "toleration",
		"value": {"key": "dedicated", "operator": "Equal", "value": "training", "effect": "NoSchedule"},
		"reason": "nodes of pool reserved have the taint dedicated",
	}} with input as addressed
	mutation.skips == set() with input as addressed
}

unmatched := "usher does not know which node pools have devices of class gpu.example.com; a pool offers a class if its resources in usher.yaml list deviceclass.resource.kubernetes.io/gpu.example.com"

skipped(reason) := {{"at": "", "reason": reason}}

assuming(taints) := json.patch(examples.before_pod, [
	{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
	{"op": "replace", "path": "/podSets/0/fits", "value": []},
	{"op": "replace", "path": "/podSets/0/assumedTaints", "value": taints},
])

dedicated(value) := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": [{
	"pool": "training",
	"labels": {"pool": "training"},
	"untolerated": [{"key": "dedicated", "value": value, "effect": "NoSchedule", "operator": "Equal"}],
}]}])

test_the_taint_that_keeps_a_pool_for_some_pods_is_tolerated_with_its_value if {
	{intent.value | some intent in mutation.intents} == {{
		"key": "dedicated",
		"operator": "Equal",
		"value": "training",
		"effect": "NoSchedule",
	}} with input as dedicated("training")
	{intent.value | some intent in mutation.intents} == {{
		"key": "dedicated",
		"operator": "Equal",
		"effect": "NoSchedule",
	}} with input as dedicated("")
}

test_pods_that_fit_only_pools_for_others_get_no_toleration if {
	others := json.patch(dedicated("training"), [
		{"op": "replace", "path": "/podSets/0/fits", "value": []},
		{"op": "add", "path": "/podSets/0/keptOff", "value": [{"pool": "training", "reason": "it is for training"}]},
	])
	mutation.intents == set() with input as others
	{"the pools with what the pod asks for are for others: training"} == {skip.reason | some skip in mutation.skips} with input as others
}

test_the_taints_of_nodes_are_tolerated_and_explained_once if {
	read := json.patch(examples.before_pod, [
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
		{"op": "add", "path": "/podSets/0/poolsFound", "value": true},
	])
	count(mutation.intents) == 1 with input as read
	tolerating := json.patch(read, [{"op": "replace", "path": "/podSets/0/fits/0/untolerated", "value": []}])
	mutation.skips == skipped("the pod already tolerates the taints of all pools on which it can run") with input as tolerating
}
