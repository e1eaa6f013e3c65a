package usher.checks.objects.flavor_resources_differ_test

import data.examples.checks.objects.flavor_resources_differ as examples
import data.usher.checks.objects.flavor_resources_differ as check

found(path, text) := {
	"path": path,
	"message": text,
	"remedy": "list the same resources in the same order",
}

test_a_resource_that_is_missing_is_found if {
	check.deny == {found(
		"/spec/resourceGroups/1/flavors/1/resources",
		"flavor h100 has quotas for [nvidia.com/gpu], but its group covers [nvidia.com/gpu, rdma/ib], so the object is refused",
	)} with input as examples.bad_queue
}

test_another_order_is_found if {
	check.deny == {found(
		"/spec/resourceGroups/0/flavors/0/resources",
		"flavor default has quotas for [memory, cpu], but its group covers [cpu, memory], so the object is refused",
	)} with input as examples.bad_queue_of_v1beta1
}

test_a_flavor_or_a_group_without_any_is_found if {
	check.deny == {
		found(
			"/spec/resourceGroups/0/flavors/0/resources",
			"flavor a100 has quotas for [], but its group covers [nvidia.com/gpu], so the object is refused",
		),
		found(
			"/spec/resourceGroups/1/flavors/0/resources",
			"flavor 0 has quotas for [cpu], but its group covers [], so the object is refused",
		),
	} with input as examples.bad_cohort
}

test_the_same_list_everywhere_is_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_cohort
}
