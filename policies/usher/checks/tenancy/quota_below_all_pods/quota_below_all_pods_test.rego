package usher.checks.tenancy.quota_below_all_pods_test

import data.examples.checks.tenancy.quota_below_all_pods as examples
import data.usher.checks.tenancy.quota_below_all_pods as check

found(takes) := {{
	"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
	"message": $"{takes}, but ResourceQuota gpu-quota never allows more than 4, so the API server refuses some of the pods",
	"remedy": "ask for at most 4 of requests.nvidia.com/gpu, or have the quota raised",
}}

test_pods_that_are_never_made_are_found if {
	check.deny == found("all pods together need 6 of requests.nvidia.com/gpu (6 pods x 1)") with input as examples.bad_deployment
	check.deny == found("all pods together need 8 of requests.nvidia.com/gpu (4 pods x 2)") with input as examples.bad_job
}

test_a_rollout_beyond_the_quota_is_found if {
	check.deny == found("at its largest the workload needs 5 of requests.nvidia.com/gpu") with input as examples.bad_rollout
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_what_never_starts_is_for_another_check if {
	check.deny == set() with input as examples.good_pytorchjob_that_never_fits
}
