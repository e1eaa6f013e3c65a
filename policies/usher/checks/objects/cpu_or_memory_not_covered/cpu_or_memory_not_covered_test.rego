package usher.checks.objects.cpu_or_memory_not_covered_test

import data.examples.checks.objects.cpu_or_memory_not_covered as examples
import data.usher.checks.objects.cpu_or_memory_not_covered as check

found(resource) := {
	"path": "/spec/resourceGroups",
	"message": $"the ClusterQueue does not cover {resource}, so it admits no workload whose pods ask for {resource}",
	"remedy": $"add {resource} to coveredResources, or exclude it in Kueue's configuration",
}

test_a_queue_for_accelerators_alone_is_found if {
	check.deny == {found("cpu"), found("memory")} with input as examples.bad_queue
}

test_each_is_told_by_itself if {
	check.deny == {found("memory")} with input as examples.bad_queue_of_v1beta1
	check.deny == {found("cpu")} with input as examples.bad_queue_of_memory
}

test_a_queue_that_covers_both_is_good if {
	check.deny == set() with input as examples.good_queue
}

test_a_queue_that_covers_nothing_says_nothing if {
	check.deny == set() with input as examples.good_queue_to_be_filled
	emptied := object.union(examples.good_queue_to_be_filled, {"object": {"clusterQueue": {"spec": {"resourceGroups": []}}}})
	check.deny == set() with input as emptied
}
