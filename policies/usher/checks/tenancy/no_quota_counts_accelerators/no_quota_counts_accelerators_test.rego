package usher.checks.tenancy.no_quota_counts_accelerators_test

import data.examples.checks.tenancy.no_quota_counts_accelerators as examples
import data.usher.checks.tenancy.no_quota_counts_accelerators as check

found(container, resource, escaped) := {{
	"path": $"{container}/resources/limits/{escaped}",
	"message": $"no ResourceQuota and no GPUQuota of the namespace counts {resource} for these pods, so they have no limit",
	"remedy": "have it added to a GPUQuota or a ResourceQuota of the namespace",
}}

template := "/spec/template/spec/containers/0"

test_a_namespace_without_any_quota_is_found if {
	check.deny == found(template, "nvidia.com/gpu", "nvidia.com~1gpu") with input as examples.bad_deployment_elsewhere
}

test_pods_out_of_the_scope_of_every_quota_are_found if {
	check.deny == found(
		"/spec/containers/0",
		"nvidia.com/gpu",
		"nvidia.com~1gpu",
	) with input as examples.bad_pod_of_no_class
}

test_slices_are_another_resource if {
	check.deny == found(
		template,
		"nvidia.com/mig-1g.10gb",
		"nvidia.com~1mig-1g.10gb",
	) with input as examples.bad_slices
}

test_pods_that_a_quota_counts_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_gpu_quota_bounds_what_its_units_count if {
	check.deny == set() with input as examples.good_under_gpu_quota

	# Under a limit of GPUs alone, an instance counts as its part of a GPU.
	check.deny == set() with input as examples.good_slices_under_gpu_quota
	check.deny == found(
		template,
		"nvidia.com/mig-3g.40gb",
		"nvidia.com~1mig-3g.40gb",
	) with input as examples.bad_slices_under_gpu_quota
}

test_a_gpu_quota_for_some_classes_bounds_no_others if {
	check.deny == found(template, "nvidia.com/gpu", "nvidia.com~1gpu") with input as examples.bad_class_under_gpu_quota
}

test_what_a_controller_makes_is_told_of_its_owner if {
	owned := object.union(examples.bad_slices, {"workload": {"owned": true}})
	check.deny == set() with input as owned
}
