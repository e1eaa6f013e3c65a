package usher.checks.objects.lending_limit_above_quota_test

import data.examples.checks.objects.lending_limit_above_quota as examples
import data.usher.checks.objects.lending_limit_above_quota as check

found(path, flavor, limit, resource, quota) := {{
	"path": $"{path}/lendingLimit",
	"message": $"flavor {flavor}: lendingLimit {limit} of {resource} is more than its nominalQuota {quota}, so Kueue refuses the queue",
	"remedy": $"set it to {quota} or less",
}}

test_a_limit_above_the_quota_is_found if {
	path := "/spec/resourceGroups/0/flavors/1/resources/0"
	check.deny == found(path, "h100", "17", "nvidia.com/gpu", "16") with input as examples.bad_queue
}

test_quantities_are_compared_as_numbers if {
	path := "/spec/resourceGroups/0/flavors/0/resources/0"
	check.deny == found(path, "default", "1024Gi", "memory", "512Gi") with input as examples.bad_queue_of_v1beta1
	check.deny == found(path, "default", "1500m", "cpu", "1") with input as examples.bad_queue_of_cpus
}

test_a_limit_up_to_the_quota_is_good if {
	check.deny == set() with input as examples.good_queue
}

test_a_quota_without_a_limit_is_lent_whole if {
	check.deny == set() with input as examples.good_queue_of_v1beta1
}
