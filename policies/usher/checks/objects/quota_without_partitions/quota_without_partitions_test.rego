package usher.checks.objects.quota_without_partitions_test

import data.examples.checks.objects.quota_without_partitions as examples
import data.usher.checks.objects.quota_without_partitions as check

found(names) := {{
	"path": "/spec/hard",
	"message": $"the quota limits some accelerators of this cluster, but not these: {names}",
	"remedy": "add requests.<name> for each of them, with 0 for resources that the namespace must not use",
}}

test_slices_and_shares_have_keys_of_their_own if {
	check.deny == found("nvidia.com/mig-1g.10gb, nvidia.com/gpu.shared") with input as examples.bad_gpus_alone
	check.deny == found("nvidia.com/gpu.shared") with input as examples.bad_without_shares
	check.deny == found("nvidia.com/gpu, nvidia.com/gpu.shared") with input as examples.bad_slices_alone
}

test_a_cap_for_each_is_good if {
	check.deny == set() with input as examples.good_all
}

test_a_quota_of_other_things_is_left_alone if {
	check.deny == set() with input as examples.good_cpu
}

test_without_a_list_nothing_is_known if {
	check.deny == set() with input as examples.good_elsewhere
}
