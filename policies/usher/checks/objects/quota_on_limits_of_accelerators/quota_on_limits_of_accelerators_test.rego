package usher.checks.objects.quota_on_limits_of_accelerators_test

import data.examples.checks.objects.quota_on_limits_of_accelerators as examples
import data.usher.checks.objects.quota_on_limits_of_accelerators as check

found(key, name, amount, remedy) := {
	"path": $"/spec/hard/limits.{key}",
	"message": $"Kubernetes never counts limits.{name}, so {amount} of it limits nothing",
	"remedy": remedy,
}

test_a_cap_on_limits_is_none if {
	check.deny == {found(
		"nvidia.com~1gpu",
		"nvidia.com/gpu",
		"16",
		"write requests.nvidia.com/gpu: 16",
	)} with input as examples.bad_limits_alone
}

test_beside_the_right_one_it_is_one_too_many if {
	check.deny == {found(
		"nvidia.com~1gpu",
		"nvidia.com/gpu",
		"32",
		"remove it; only requests.nvidia.com/gpu counts",
	)} with input as examples.bad_both
}

test_every_one_is_found if {
	check.deny == {
		found("amd.com~1gpu", "amd.com/gpu", "8", "write requests.amd.com/gpu: 8"),
		found("nvidia.com~1mig-1g.10gb", "nvidia.com/mig-1g.10gb", "7", "write requests.nvidia.com/mig-1g.10gb: 7"),
	} with input as examples.bad_several
}

test_limits_of_cpu_and_memory_are_counted if {
	check.deny == set() with input as examples.good_requests
}

test_other_keys_with_a_slash_are_good if {
	check.deny == set() with input as examples.good_counts
}

test_hami_counts_parts_of_a_gpu_by_their_limits if {
	check.deny == set() with input as examples.good_hami
}
