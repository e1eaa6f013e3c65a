package usher.checks.tenancy.gpu_quota_exceeded_test

import data.examples.checks.tenancy.gpu_quota_exceeded as examples
import data.usher.checks.tenancy.gpu_quota_exceeded as check

never(message, hard) := {"path": "", "message": message, "remedy": $"ask for at most {hard}, or have the quota raised"}

test_a_gang_that_the_quota_can_never_hold_is_found if {
	message := "asks for 64 GPUs; GPUQuota research can never give more than 48"
	check.deny == {never(message, "48")} with input as examples.bad_pytorchjob
	check.unknown == set() with input as examples.bad_pytorchjob
}

test_a_limit_may_hold_for_some_priority_classes_alone if {
	message := "asks for 24 GPUs; GPUQuota research can never give more than 16 to pods of priority class research-high"
	check.deny == {never(message, "16")} with input as examples.bad_job_of_a_class
}

test_instances_count_as_slices if {
	message := "asks for 16 slices; GPUQuota notebooks can never give more than 14"
	check.deny == {never(message, "14")} with input as examples.bad_deployment_of_instances
}

test_a_pod_that_nothing_bounds_is_found if {
	check.deny == {{
		"path": "",
		"message": "the number of devices of the pod has no bound (allocationMode All takes every device of a node that fits), so usher cannot charge GPUQuota research",
		"remedy": "ask for a fixed number of devices",
	}} with input as examples.bad_pod_without_bound
}

test_a_job_that_nothing_bounds_is_another_checks_matter if {
	document := json.patch(examples.bad_pod_without_bound, [
		{"op": "replace", "path": "/workload/kind", "value": "Job"},
		{"op": "replace", "path": "/workload/group", "value": "batch"},
	])
	check.deny == set() with input as document
	of_a_group := json.patch(examples.bad_pod_without_bound, [{"op": "replace", "path": "/workload/group", "value": "x"}])
	check.deny == set() with input as of_a_group
	of_another_kind := json.patch(examples.bad_pod_without_bound, [{"op": "replace", "path": "/workload/kind", "value": "X"}])
	check.deny == set() with input as of_another_kind
}

now(excess) := json.patch(examples.good_pytorchjob, [{
	"op": "add",
	"path": "/cluster/gpuQuota",
	"value": {
		"name": "GPUQuota research",
		"unclear": [],
		"excesses": [object.union({"never": false, "hard": "100", "classes": []}, excess)],
	},
}])

test_what_pods_of_a_deleted_workload_of_this_name_hold_is_said if {
	check.deny == {{
		"path": "",
		"message": "asks for 60 GPUs, while pods of a deleted workload with this name still hold 48 GPUs; GPUQuota research has 40 of 100 free (60 used)",
		"remedy": "wait until these pods have finished, ask for at most 40, or have the quota raised",
	}} with input as now({"asks": "60 GPUs", "ending": "48 GPUs", "free": "40", "used": "60"})
}

test_what_is_not_free_now_is_found_with_all_numbers if {
	check.deny == {{
		"path": "",
		"message": "asks for 16 GPUs; GPUQuota research has 4 of 100 free (96 used)",
		"remedy": "wait until other workloads have finished, ask for at most 4, or have the quota raised",
	}} with input as now({"asks": "16 GPUs", "free": "4", "used": "96"})
}

test_a_workload_that_grows_is_told_by_how_much if {
	found := check.deny with input as now({"asks": "16 GPUs", "free": "4", "used": "96", "more": "8", "classes": ["a", "b"]})
	messages := {finding.message | some finding in found}
	messages == {"asks for 16 GPUs, 8 more than it already holds; GPUQuota research has 4 of 100 free to pods of priority class a or b (96 used)"}
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_deployment_elsewhere
}

test_of_two_quotas_none_is_guessed if {
	check.deny == set() with input as examples.unknown_two_quotas
	check.unknown == {{
		"path": "",
		"reason": "usher does not know which GPU quota holds: GPUQuota first and GPUQuota second hold for namespace shared, but only one quota may",
	}} with input as examples.unknown_two_quotas
}

test_what_a_limit_looks_at_and_nobody_knows_is_unknown if {
	why := "the memory of its devices is not known; select nodes by nvidia.com/gpu.product, or give the quota an assumption (assumes)"
	check.unknown == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"reason": $"usher does not know whether the workload fits into GPUQuota notebooks: {why}",
	}} with input as examples.unknown_memory
	check.deny == set() with input as examples.unknown_memory
}
