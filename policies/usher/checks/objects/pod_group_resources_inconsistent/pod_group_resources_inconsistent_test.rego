package usher.checks.objects.pod_group_resources_inconsistent_test

import data.examples.checks.objects.pod_group_resources_inconsistent as examples
import data.usher.checks.objects.pod_group_resources_inconsistent as check

found(name, amount, members) := {{
	"path": $"/spec/minResources/{replace(name, "/", "~1")}",
	"message": $"minResources has {amount} of {name}, which minMember {members} does not divide evenly",
	"remedy": "set it to minMember times the amount of one pod",
}}

test_devices_that_do_not_divide_are_found if {
	check.deny == found("nvidia.com/gpu", 36, 8) with input as examples.bad_pod_group
	check.deny == found("amd.com/gpu", 2, 4) with input as examples.bad_pod_group_with_too_few
	check.deny == found("rdma/ib", 7, 5) with input as examples.bad_pod_group_of_two_devices
}

test_devices_that_divide_are_good_and_others_do_not_matter if {
	check.deny == set() with input as examples.good_pod_group
}

test_one_pod_may_have_no_device if {
	check.deny == set() with input as examples.good_pod_group_with_launcher
}

test_one_pod_may_have_any if {
	check.deny == set() with input as examples.good_pod_group_of_one
}
