package usher.checks.placement.gpu_toleration_present_test

import data.examples.checks.placement.gpu_toleration_present as examples
import data.usher.checks.placement.gpu_toleration_present as check

test_tolerating_the_taints_of_one_pool_is_enough if {
	check.deny == set() with input as examples.good_job
}

test_a_pod_set_without_accelerators_needs_none if {
	check.deny == set() with input as examples.good_mpijob
}

test_where_the_pods_fit_on_no_pool_nothing_is_found if {
	check.deny == set() with input as examples.good_pod_that_no_pool_serves
}

test_tolerations_of_another_value_or_effect_do_not_count if {
	check.deny == {{
		"path": "/spec/tolerations",
		"message": "the pod does not tolerate nvidia.com/gpu=present:NoSchedule and team=research:NoExecute of pool h100, so it cannot start there; its toleration of nvidia.com/gpu and team has another value or effect",
		"remedy": "choose another pool; if the nodes are for these pods, tolerate nvidia.com/gpu=present:NoSchedule and team=research:NoExecute",
	}} with input as examples.bad_pod
}

test_the_tolerations_of_a_task_stand_in_its_pod_template if {
	check.deny == {{
		"path": "/spec/podTemplate/tolerations",
		"message": "the pod does not tolerate nvidia.com/gpu:NoSchedule of pool a100, so it cannot start there",
		"remedy": "tolerate nvidia.com/gpu with operator Exists",
	}} with input as examples.bad_taskrun
}

test_a_pool_that_is_kept_for_others_comes_after_an_open_one if {
	one := {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
	kept := {"pool": "kept", "labels": {}, "untolerated": [one]}
	several := json.patch(examples.bad_pytorchjob, [
	{"op": "add", "path": $"/podSets/{index}/fits/0", "value": kept} |
		some index, pod_set in examples.bad_pytorchjob.podSets
		pod_set.name == "Worker"
	])
	check.deny == {worker(", the closest of 3 pools, and it cannot start in any of them")} with input as several
}

test_of_several_pools_the_one_with_the_fewest_taints_in_the_way_is_named if {
	farther := {"pool": "far", "labels": {"pool": "far"}, "untolerated": [
		{"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule", "operator": "Exists"},
		{"key": "sku", "value": "gpu", "effect": "NoSchedule", "operator": "Exists"},
	]}
	several := json.patch(examples.bad_pytorchjob, [
	{"op": "add", "path": $"/podSets/{index}/fits/0", "value": farther} |
		some index, pod_set in examples.bad_pytorchjob.podSets
		pod_set.name == "Worker"
	])
	check.deny == {worker(", the closest of 3 pools, and it cannot start in any of them")} with input as several
}

worker(choice) := {
	"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/tolerations",
	"message": $"Worker does not tolerate nvidia.com/gpu:NoSchedule of pool a100{choice}",
	"remedy": "tolerate nvidia.com/gpu with operator Exists",
}

test_a_daemon_set_needs_a_toleration_too if {
	check.deny == {{
		"path": "/spec/template/spec/tolerations",
		"message": "the pod does not tolerate nvidia.com/gpu:NoSchedule of pool a100, so it cannot start there",
		"remedy": "tolerate nvidia.com/gpu with operator Exists",
	}} with input as examples.bad_daemonset
}

test_without_declared_pools_the_usual_taint_is_assumed if {
	undeclared := json.patch(examples.bad_daemonset, [
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
		{"op": "replace", "path": "/podSets/0/fits", "value": []},
		{"op": "replace", "path": "/podSets/0/assumedTaints", "value": ["nvidia.com/gpu"]},
	])
	check.deny == {{
		"path": "/spec/template/spec/tolerations",
		"message": "the pod does not tolerate the taint nvidia.com/gpu, so nodes with this taint refuse it",
		"remedy": "tolerate nvidia.com/gpu with operator Exists",
		"assumption": "usher assumes the usual taint nvidia.com/gpu, because usher.yaml declares no node pools",
	}} with input as undeclared
}

test_what_knative_runs_is_judged_as_pods if {
	check.deny == set() with input as examples.good_knative_service
}

test_pods_are_judged_instead_of_a_template_that_the_webhook_cannot_edit if {
	unchangeable := json.patch(examples.bad_pod, [{"op": "replace", "path": "/podSets/0/changeable", "value": false}])
	check.deny == set() with input as unchangeable
}

test_a_taint_that_keeps_a_pool_for_some_pods_is_to_be_tolerated_with_its_value if {
	dedicated := {"key": "dedicated", "value": "training", "effect": "NoSchedule", "operator": "Equal"}
	both := json.patch(examples.bad_daemonset, [{"op": "add", "path": "/podSets/0/fits/0/untolerated/-", "value": dedicated}])
	alone := json.patch(examples.bad_daemonset, [{"op": "replace", "path": "/podSets/0/fits/0/untolerated", "value": [dedicated]}])
	{finding.remedy | some finding in check.deny} == {"tolerate nvidia.com/gpu with operator Exists and dedicated=training with operator Equal"} with input as both
	{finding.remedy | some finding in check.deny} == {"tolerate dedicated=training with operator Equal"} with input as alone
}

test_pools_that_usher_read_from_nodes_may_not_be_all if {
	read := json.patch(examples.bad_daemonset, [
		{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
		{"op": "add", "path": "/podSets/0/poolsFound", "value": true},
	])
	check.deny == {{
		"path": "/spec/template/spec/tolerations",
		"message": "the pod does not tolerate nvidia.com/gpu:NoSchedule of pool a100, so it cannot start there",
		"remedy": "tolerate nvidia.com/gpu with operator Exists",
		"assumption": "usher read the pools from the nodes, and assumes that no autoscaler adds nodes without these taints",
	}} with input as read
}

test_the_taints_of_pools_without_the_selected_devices_do_not_matter if {
	elsewhere := json.patch(examples.bad_daemonset, [
		{"op": "add", "path": "/podSets/0/undeclaredDevices", "value": [{"label": "nvidia.com/gpu.product", "values": ["NVIDIA-L4"]}]},
	])
	check.deny == set() with input as elsewhere
}
