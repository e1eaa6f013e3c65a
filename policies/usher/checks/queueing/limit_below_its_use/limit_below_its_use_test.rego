package usher.checks.queueing.limit_below_its_use_test

import data.examples.checks.queueing.limit_below_its_use as examples
import data.usher.checks.queueing.limit_below_its_use as check

found(path, name, now) := {{
	"path": path,
	"message": $"{name} falls from 16 to {now}, but 12 are in use",
	"remedy": "keep 12, or wait until less is in use",
}}

test_a_quota_below_its_use_is_found if {
	check.deny == found("/spec/hard/requests.nvidia.com~1gpu", "requests.nvidia.com/gpu", 8) with input as examples.bad_quota
}

test_a_queue_below_its_use_is_found if {
	check.deny == found("/spec/capability/nvidia.com~1gpu", "nvidia.com/gpu", 0) with input as examples.bad_volcano_queue
	check.deny == found(
		"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota",
		`nvidia.com/gpu in flavor "h100"`,
		8,
	) with input as examples.bad_cluster_queue
}

test_a_lower_limit_above_the_use_is_good if {
	check.deny == set() with input as examples.good_quota
	check.deny == set() with input as examples.good_cluster_queue
	check.deny == set() with input as examples.good_equal
}

test_raising_a_limit_that_is_too_low_is_good if {
	check.deny == set() with input as examples.good_raised
}

test_a_new_quota_has_no_use if {
	check.deny == set() with input as json.remove(examples.bad_quota, ["/old"])
}
