package usher.mutations.placement.gpu_node_affinity_test

import data.examples.mutations.placement.gpu_node_affinity as examples
import data.usher.mutations.placement.gpu_node_affinity as mutation

requirement(at, key, values, pools) := {
	"at": at,
	"field": "nodeRequirement",
	"value": {"key": key, "operator": "In", "values": values},
	"reason": $"the pods fit only on nodes of {pools}",
}

test_every_label_of_the_only_pool_that_fits_is_required if {
	mutation.intents == {
		requirement("", "example.com/board", ["mi300x"], "mi300"),
		requirement("", "example.com/tier", ["premium"], "mi300"),
	} with input as examples.before_pod
}

test_of_several_pools_told_apart_by_one_label_its_values_are_required if {
	products := ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"]
	replicas := "/spec/pytorchReplicaSpecs"
	mutation.intents == {
		requirement($"{replicas}/Master/template", "nvidia.com/gpu.product", products, "a100 and h100"),
		requirement($"{replicas}/Worker/template", "nvidia.com/gpu.product", products, "a100 and h100"),
	} with input as examples.before_pytorchjob
}

test_pools_that_share_only_some_of_their_labels_bind_nothing if {
	more := json.patch(examples.before_pytorchjob, [{
		"op": "add",
		"path": "/podSets/0/fits/0/labels/example.com~1rack",
		"value": "r1",
	}])
	intents := mutation.intents with input as more
	every intent in intents {
		intent.at != more.podSets[0].path
	}
}

test_pools_told_apart_by_two_labels_bind_nothing if {
	labels := [{"a": "1", "b": "1"}, {"a": "2", "b": "2"}]
	mixed := json.patch(examples.before_pod, [{
		"op": "replace",
		"path": "/podSets/0/fits",
		"value": [{"pool": "x", "labels": label, "untolerated": []} | some label in labels],
	}])
	mutation.intents == set() with input as mixed
}

test_a_pod_that_selects_a_pool_already_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_selecting_pod
}

test_pools_without_a_common_label_bind_nothing if {
	mutation.intents == set() with input as examples.untouched_gaudi_pod
}

test_machines_that_no_pool_names_are_left_alone if {
	machine := [{"label": "node.kubernetes.io/instance-type", "values": ["g5.12xlarge"]}]
	selecting := json.patch(examples.before_pod, [{"op": "add", "path": "/podSets/0/undeclaredLabels", "value": machine}])
	mutation.intents == set() with input as selecting
	mutation.skips == {{"at": "", "reason": "it selects node.kubernetes.io/instance-type=g5.12xlarge, which no pool of usher.yaml names"}} with input as selecting
}

test_where_kueue_places_the_pods_nothing_is_required if {
	mutation.intents == set() with input as examples.untouched_queued_job
	mutation.intents == set() with input as examples.untouched_job_to_be_queued
}

test_without_a_declared_pool_that_offers_the_accelerator_nothing_is_required if {
	undeclared := json.patch(examples.before_pod, [
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
		{"op": "replace", "path": "/podSets/0/fits", "value": []},
	])
	mutation.intents == set() with input as undeclared
}

test_where_no_pool_fits_nothing_is_required if {
	misfit := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	mutation.intents == set() with input as misfit
}

test_a_pod_that_names_its_node_is_left_alone if {
	bound := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/nodeName", "value": "node-1"}])
	mutation.intents == set() with input as bound
}

test_a_pod_whose_node_the_scheduler_chose_keeps_what_it_was_given if {
	placed := json.patch(examples.before_pod, [
		{"op": "replace", "path": "/podSets/0/nodeName", "value": "node-1"},
		{"op": "add", "path": "/podSets/0/placed", "value": true},
	])
	count(mutation.intents) == 2 with input as placed
}

test_devices_that_no_declared_pool_offers_bind_nothing if {
	mutation.intents == set() with input as examples.untouched_claim_of_another_vendor
	mutation.skips == {{
		"at": "",
		"reason": "usher.yaml declares no node pool that offers what the pods ask for",
	}} with input as examples.untouched_claim_of_another_vendor
}

test_devices_whose_pools_are_not_known_bind_nothing if {
	mutation.intents == set() with input as examples.untouched_claim_of_unmatched_class
	mutation.skips == {{"at": "", "reason": unmatched}} with input as examples.untouched_claim_of_unmatched_class
}

unmatched := "usher does not know which node pools have devices of class gpu.example.com; a pool offers a class if its resources in usher.yaml list deviceclass.resource.kubernetes.io/gpu.example.com"

test_pods_that_no_pool_is_open_for_are_bound_to_no_pool if {
	mutation.intents == set() with input as examples.untouched_pod_of_a_reserved_pool
	mutation.skips == {{
		"at": "",
		"reason": "pool reserved has the taint dedicated=training:NoSchedule, which the pod does not tolerate",
	}} with input as examples.untouched_pod_of_a_reserved_pool
}

test_parts_of_the_system_run_where_their_author_wants if {
	system := json.patch(examples.before_pod, [{"op": "replace", "path": "/workload/role", "value": "system"}])
	mutation.intents == set() with input as system
	mutation.skips == {{
		"at": "",
		"reason": "it is a part of the system, which runs where its author wants",
	}} with input as system
}

kept_off := {"op": "add", "path": "/podSets/0/keptOff", "value": [{"pool": "serving", "reason": "it is for inference"}]}

test_pods_are_kept_off_the_pools_for_others if {
	selecting := json.patch(examples.untouched_selecting_pod, [kept_off])
	intents := mutation.intents with input as selecting
	{intent.reason | some intent in intents} == {$"the pods belong on nodes of {selecting.podSets[0].fits[0].pool}"}
	not "its node selector and affinity already allow only accelerator nodes" in {skip.reason | some skip in mutation.skips} with input as selecting
}

test_pods_that_belong_on_several_pools_get_the_labels_that_all_of_these_have if {
	labels := [{"a": "1", "b": "1", "c": "1"}, {"a": "2", "b": "2"}]
	fits := [{"pool": $"p{index}", "labels": label, "untolerated": []} | some index, label in labels]
	mixed := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": fits}, kept_off])
	intents := mutation.intents with input as mixed
	{intent.value.key | some intent in intents} == {"a", "b"}
	apart := json.patch(mixed, [{"op": "replace", "path": "/podSets/0/fits/1/labels", "value": {"d": "1"}}])
	mutation.intents == set() with input as apart
	{"the labels of the pools on which the pod can run do not separate them from other pools"} == {skip.reason | some skip in mutation.skips} with input as apart
}

test_pods_that_fit_only_pools_for_others_get_nothing_and_the_reason if {
	misfit := json.patch(examples.before_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": []}, kept_off])
	mutation.intents == set() with input as misfit
	{"the pools with what the pod asks for are for others: serving, because it is for inference"} == {skip.reason | some skip in mutation.skips} with input as misfit
}

test_a_gang_that_fits_several_boards_is_warned_or_narrowed if {
	both := json.patch(examples.before_pytorchjob, [
	{"op": "add", "path": $"/podSets/{index}/fits/{number}/board", "value": pod_set.fits[number].pool} |
		some index, pod_set in examples.before_pytorchjob.podSets
		some number, _ in pod_set.fits
	])
	{warning.at | some warning in mutation.warnings} == {""} with input as both
	every warning in mutation.warnings {
		startswith(warning.reason, "its pods may land on nodes with different boards (a100, h100)")
	} with input as both
	narrowed := json.patch(both, [{"op": "add", "path": "/site/narrowsGangs", "value": true}])
	intents := mutation.intents with input as narrowed
	{intent.reason | some intent in intents} == {$"the pods belong on nodes of {both.podSets[0].fits[0].pool}"}
	mutation.warnings == set() with input as narrowed
}

test_pods_that_select_devices_of_no_pool_are_left_alone if {
	elsewhere := json.patch(examples.before_pod, [
		{"op": "add", "path": "/podSets/0/undeclaredDevices", "value": [{"label": "nvidia.com/gpu.product", "values": ["NVIDIA-L4"]}]},
	])
	mutation.intents == set() with input as elsewhere
	mutation.skips == {{"at": "", "reason": "the pods select devices that no declared node pool has"}} with input as elsewhere
}

test_a_workload_that_kueue_refuses_gets_the_nodes_of_its_pools if {
	group := "/spec/rayClusterSpec/workerGroupSpecs/0/template"
	products := ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"]
	mutation.intents == {requirement(group, "nvidia.com/gpu.product", products, "a100 and h100")} with input as examples.before_rayjob_that_kueue_refuses
}
