package usher.checks.objects.quota_of_no_such_resource_test

import data.examples.checks.objects.quota_of_no_such_resource as examples
import data.usher.checks.objects.quota_of_no_such_resource as check

found(name, amount) := {
	"path": $"/spec/hard/{name}",
	"message": $"the resource {name} does not exist, so the API server refuses the whole quota",
	"remedy": $"write the full name, for example requests.nvidia.com/gpu: {amount}",
}

test_a_name_without_its_vendor_is_none if {
	check.deny == {found("requests.gpu", "8")} with input as examples.bad_requests
	check.deny == {found("gpu", "8"), found("limits.gpu", "16")} with input as examples.bad_gpu
	check.deny == {found("requests.NVIDIA", "4"), found("TPU", "32")} with input as examples.bad_vendor
}

test_full_names_are_good if {
	check.deny == set() with input as examples.good_full_names
}

test_what_kubernetes_itself_knows_is_good if {
	check.deny == set() with input as examples.good_ordinary
}
