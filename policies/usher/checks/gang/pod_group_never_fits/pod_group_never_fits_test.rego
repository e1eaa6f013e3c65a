package usher.checks.gang.pod_group_never_fits_test

import data.examples.checks.gang.pod_group_never_fits as examples
import data.usher.checks.gang.pod_group_never_fits as check

found(needs, resource, can, queue) := {
	"path": "/spec/minResources",
	"message": $"the group needs {needs} of {resource} at once, but Volcano queue {queue} can never give more than {can}",
	"remedy": $"ask for at most {can} of {resource}, or choose a queue with more",
}

test_minimum_resources_above_the_capability_are_found if {
	check.deny == {found("32", "nvidia.com/gpu", "16", "research")} with input as examples.bad_gpus
}

test_each_resource_counts if {
	check.deny == {
		found("64", "nvidia.com/gpu", "16", "research"),
		found("512", "cpu", "256", "research"),
	} with input as examples.bad_gpus_and_cpus
}

test_a_queue_above_counts_where_the_scheduler_uses_parents if {
	check.deny == {object.union(found("16", "nvidia.com/gpu", "8", "lab"), {
		"assumption": "usher assumes that the plugin capacity of Volcano's scheduler has enableHierarchy",
	})} with input as examples.bad_below_a_smaller_queue
}

test_a_group_that_fits_is_good if {
	check.deny == set() with input as examples.good_group
}

test_resources_that_the_capability_does_not_name_are_unlimited if {
	check.deny == set() with input as examples.good_other_resources
}

test_pods_made_by_hand_count_without_minimum_resources if {
	check.deny == {{
		"path": "/spec",
		"message": "the first pods of the group need 24 of nvidia.com/gpu at once, but Volcano queue research can never give more than 16",
		"remedy": "ask for at most 16 of nvidia.com/gpu, or choose a queue with more",
		"assumption": "usher assumes that no other pods name this PodGroup",
	}} with input as examples.bad_pods_beside_it
}

test_only_the_pods_that_start_together_count if {
	check.deny == set() with input as examples.good_pods_that_fit
}

test_pods_made_by_hand_that_no_nodes_hold_at_once_are_found if {
	crowded := json.patch(examples.good_pods_that_fit, [{
		"op": "add",
		"path": "/cluster",
		"value": {"podGroupNodes": {"wanted": 2, "most": 1, "sure": true}},
	}])
	check.deny == {{
		"path": "/spec/minMember",
		"message": "2 pods of the group must start together, but even empty nodes hold only 1 of them at once, so they can never all run",
		"remedy": "start at most 1 pods together, or make them smaller",
		"assumption": "usher assumes that no other pods name this PodGroup, and that the number of nodes does not grow",
	}} with input as crowded
}
