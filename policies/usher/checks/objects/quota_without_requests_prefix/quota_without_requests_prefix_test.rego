package usher.checks.objects.quota_without_requests_prefix_test

import data.examples.checks.objects.quota_without_requests_prefix as examples
import data.usher.checks.objects.quota_without_requests_prefix as check

found(key, name, amount) := {
	"path": $"/spec/hard/{key}",
	"message": $"Kubernetes never counts {name} without the prefix requests., so {amount} of it limits nothing",
	"remedy": $"write requests.{name}: {amount}",
}

test_the_name_alone_caps_nothing if {
	check.deny == {found("nvidia.com~1gpu", "nvidia.com/gpu", "16")} with input as examples.bad_gpu
}

test_nor_do_slices_and_other_devices if {
	check.deny == {
		found("nvidia.com~1mig-1g.10gb", "nvidia.com/mig-1g.10gb", "7"),
		found("rdma~1ib", "rdma/ib", "8"),
	} with input as examples.bad_slices
	check.deny == {found("habana.ai~1gaudi", "habana.ai/gaudi", "8")} with input as examples.bad_gaudi
}

test_devices_of_a_class_have_a_key_of_their_own if {
	class := json.patch(examples.bad_gpu, [{
		"op": "replace",
		"path": "/object/resourceQuota/spec/hard",
		"value": {"gpu.nvidia.com/devices": {"text": "4"}},
	}])
	check.deny == {{
		"path": "/spec/hard/gpu.nvidia.com~1devices",
		"message": "Kubernetes never counts gpu.nvidia.com/devices without the ending deviceclass.resource.k8s.io, so 4 of it limits nothing",
		"remedy": "write gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 4",
	}} with input as class
}

test_shares_of_hami_count_by_limits if {
	check.deny == {{
		"path": "/spec/hard/requests.nvidia.com~1gpumem",
		"message": "requests.nvidia.com/gpumem does not bound what HAMi gives: Kubernetes counts a container once, whatever its number of GPUs, and HAMi only reads keys with the prefix limits.",
		"remedy": "write limits.nvidia.com/gpumem: 40000",
	}} with input as examples.bad_hami
}

test_with_the_prefix_they_count if {
	check.deny == set() with input as examples.good_requests
}

test_other_keys_with_a_slash_are_good if {
	check.deny == set() with input as examples.good_counts
}

test_what_stands_behind_two_slashes_is_no_resource if {
	odd := json.patch(examples.bad_gpu, [{
		"op": "replace",
		"path": "/object/resourceQuota/spec/hard",
		"value": {"a/b/c": {"text": "1"}},
	}])
	check.deny == set() with input as odd
}
