package usher.checks.objects.network_topology_both_tiers_test

import data.examples.checks.objects.network_topology_both_tiers as examples
import data.usher.checks.objects.network_topology_both_tiers as check

found(path, name, number) := {{
	"path": $"{path}/networkTopology/highestTierName",
	"message": $"highestTierName {name} and highestTierAllowed {number} are both set, so Volcano refuses the object",
	"remedy": "keep one of highestTierName and highestTierAllowed",
}}

test_two_highest_tiers_of_a_pod_group_are_found if {
	check.deny == found("/spec", "leaf", 1) with input as examples.bad_pod_group
}

test_those_of_a_subgroup_are_found_and_0_is_a_tier if {
	check.deny == found("/spec/subGroupPolicy/1", "leaf", 0) with input as examples.bad_pod_group_of_subgroups
}

test_those_of_a_job_are_found_wherever_it_stands if {
	check.deny == found("/spec/jobTemplate/spec", "spine", 2) with input as examples.bad_cronjob
}

test_those_of_partitions_are_found if {
	check.deny == found("/spec/tasks/1/partitionPolicy", "leaf", 1) with input as examples.bad_job_of_partitions
}

test_either_is_good if {
	check.deny == set() with input as examples.good_pod_group
	check.deny == set() with input as examples.good_job_of_partitions
}

test_an_empty_name_is_none if {
	check.deny == set() with input as examples.good_cronjob
}
